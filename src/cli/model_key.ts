import { join } from "node:path";
import type { Config } from "@/config.ts";
import { keyVariables } from "@/engine/llm/models.ts";
import type { MainAnswer } from "@/host/messages.ts";
import type { Disk } from "@/workspace/disk.ts";

const fileBytesMax = 8 * 1024;

/** Where keys of models are looked for. */
export interface ModelKeyOptions {
  readonly config: Pick<Config, "model" | "modelKey">;
  readonly disk: Disk;
  /** A variable of the environment; undefined when it is not set. */
  readonly readVariable: (name: string) => string | undefined;
}

/**
 * Answers the host's request for the key of its model: `setting:ModelKey`, or a variable of the model's own provider. Every
 * other reference is refused, whatever it names: the host works on strangers' texts (product.md §4).
 */
export function findModelKey(reference: string, options: ModelKeyOptions): MainAnswer {
  const { config: { model, modelKey }, readVariable } = options;
  if (model.value === undefined) return notAllowed;
  if (reference === "setting:ModelKey") return fromSetting(modelKey.value, options);
  const name = /^env:(.+)$/.exec(reference)?.[1];
  if (name === undefined || !keyVariables[model.value.provider].includes(name)) return notAllowed;
  const value = readVariable(name);
  return value === undefined ? { kind: "absent" } : checked(value, name);
}

const notAllowed: MainAnswer = { kind: "refused", why: "Cannot look up a key for the host: it is not its model's" };

function fromSetting(value: string | undefined, { disk, readVariable }: ModelKeyOptions): MainAnswer {
  if (value === undefined) return { kind: "absent" };
  const file = /^file:(.*)$/.exec(value)?.[1];
  if (file === undefined) return checked(value, "ModelKey");
  const refuse = (why: string): MainAnswer => ({ kind: "refused", why: `Cannot read the file of ModelKey: ${why}` });
  const folder = readVariable("CREDENTIALS_DIRECTORY");
  if (folder === undefined) return refuse("there is no $CREDENTIALS_DIRECTORY; the service manager sets it");
  if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(file)) return refuse("expected a name in $CREDENTIALS_DIRECTORY, no path");
  try {
    const path = join(folder, file);
    const stamp = disk.linkStampSync(path);
    if (stamp === undefined) return refuse("there is none of that name in $CREDENTIALS_DIRECTORY");
    if (stamp.kind !== "file" || stamp.bytes > fileBytesMax) return refuse("it is no small file");
    using opened = disk.openReadSync(path);
    return checked(new TextDecoder().decode(opened.readSync(fileBytesMax)), "the file of ModelKey");
  } catch (error) {
    return refuse(error instanceof Error ? error.name : "unknown");
  }
}

/** A key goes into a header: it must be one word. */
function checked(text: string, place: string): MainAnswer {
  const value = text.trim();
  if (/^[\x21-\x7e]+$/.test(value)) return { kind: "secret", value };
  return { kind: "refused", why: `Cannot use the key in ${place}: expected one word of printable characters` };
}
