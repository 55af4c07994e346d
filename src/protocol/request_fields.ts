import type { FieldReader, TextRule } from "./field_reader.ts";

/** An id of a task, in a request: any text, since what is no id of ours is an unknown task. */
export const taskIdRule: TextRule = { charsMax: 256 };

/** `tenant`, where it is set. */
export function tenant(fields: FieldReader): { readonly tenant?: string } {
  const tenant = fields.text("tenant", { charsMax: 256, mayBeBlank: true });
  return tenant ? { tenant } : {};
}

/** `historyLength`, where it is set: a whole number from 0 (A2A 1.0 §3.2.4). */
export function historyLength(fields: FieldReader): { readonly historyLength?: number } {
  const historyLength = fields.wholeNumber("historyLength", { min: 0, max: int32Max });
  return historyLength === undefined ? {} : { historyLength };
}

/** `pageToken`; "" for the first page. */
export function pageToken(fields: FieldReader): { readonly pageToken: string } {
  return { pageToken: fields.text("pageToken", { charsMax: 2048, mayBeBlank: true }) ?? "" };
}

/** `pageSize` of ListTasks: 50 when unset, else 1 to 100 and nothing else (A2A 1.0 §3.1.4). */
export function taskPageSize(fields: FieldReader): { readonly pageSize: number } {
  return { pageSize: fields.wholeNumber("pageSize", { min: 1, max: pageSizeMax }) ?? pageSizeDefault };
}

/** `pageSize` of webhooks: there 0 is unset, and no limit is named, so that more than 100 is 100. */
export function pushPageSize(fields: FieldReader): { readonly pageSize: number } {
  const asked = fields.wholeNumber("pageSize", { min: 0, max: int32Max }) ?? 0;
  return { pageSize: asked === 0 ? pageSizeDefault : Math.min(asked, pageSizeMax) };
}

const int32Max = 2 ** 31 - 1;
const pageSizeMax = 100;
const pageSizeDefault = 50;
