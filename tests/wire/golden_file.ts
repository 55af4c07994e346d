import type { Method } from "@/protocol/request_types.ts";
import type { WireReply } from "@tests/fakes/wire_reply.ts";
import { isMethod } from "@/protocol/methods.ts";

/**
 * A conversation as a file: blocks with blank lines between them.
 *
 * A call is `Method`, ` as NAME` for another caller than alice, ` during TIME` when the clock goes on meanwhile, then its
 * params, `---`, and what it is answered over both bindings. `wait TIME` lets time pass, `drain` tells the host to end. Lines
 * in front that begin with `#` say what it shows, and `host FLAG=VALUE` how the host is set.
 */
export interface Golden {
  readonly head: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  readonly steps: readonly GoldenStep[];
}

/** One block. `text` is its first line, as it stands. */
export type GoldenStep =
  | {
    readonly kind: "call";
    readonly text: string;
    readonly method: Method;
    readonly as: "alice" | "bob";
    readonly duringMs: number;
    readonly params: string;
    readonly reply: string;
  }
  | { readonly kind: "wait"; readonly text: string; readonly ms: number }
  | { readonly kind: "drain"; readonly text: string };

/** @throws {SyntaxError} For what is none, naming the line. */
export function parseGolden(text: string): Golden {
  const [first, ...rest] = text.trimEnd().split(/\n\n+/);
  const head = first!.split("\n");
  const flags = head.filter((line) => line.startsWith("host ")).map((line) => line.slice("host ".length).split("="));
  return { head, flags: Object.fromEntries(flags), steps: rest.map(parseStep) };
}

function parseStep(block: string): GoldenStep {
  const [text, ...lines] = block.split("\n");
  const [, wait] = /^wait (\d+)s$/.exec(text!) ?? [];
  if (wait !== undefined) return { kind: "wait", text: text!, ms: Number(wait) * 1000 };
  if (text === "drain") return { kind: "drain", text };
  const [, method, as = "alice", during = "0"] = /^(\w+)(?: as (alice|bob))?(?: during (\d+)s)?$/.exec(text!) ?? [];
  if (method === undefined || !isMethod(method)) throw new SyntaxError(`Cannot read a golden file: ${text}`);
  const [params, reply = ""] = lines.join("\n").split(/^---$/m);
  return {
    ...{ kind: "call", text: text!, method, params: params!.trim(), reply: reply.trim() },
    ...{ as: as as "alice" | "bob", duringMs: Number(during) * 1000 },
  };
}

/** The file with these replies, one for each call. */
export function formatGolden({ head, steps }: Golden, replies: readonly string[]): string {
  const left = [...replies];
  const blocks = steps.map((step) => {
    return step.kind === "call" ? `${step.text}\n${step.params}\n---\n${left.shift()}` : step.text;
  });
  return [head.join("\n"), ...blocks].join("\n\n") + "\n";
}

/** A reply as it stands in a file. */
export function formatReply(reply: WireReply): string {
  if (reply.kind === "result") return prettyJson(reply.result);
  if (reply.kind === "events") return prettyJson({ events: reply.events });
  const { kind: _, ...error } = reply;
  return prettyJson({ error });
}

/** JSON in lines of 120 characters where that can be. */
export function prettyJson(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || line.length + indent.length <= 118) return line;
  const more = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => more + prettyJson(item, more)).join(",\n")}\n${indent}]`;
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const shown = members.map(([name, member]) => `${more}${JSON.stringify(name)}: ${prettyJson(member, more)}`);
  return `{\n${shown.join(",\n")}\n${indent}}`;
}

/**
 * Names for what differs from run to run: `<id 1>` for the first id that was seen, `<token 1>` for a page token, `<time>` for
 * a moment.
 */
export class Placeholders {
  readonly #names = new Map<string, string>();

  /** The text with names in the place of what they stand for. */
  hide(text: string): string {
    return text
      .replace(/"nextPageToken":\s?"([^"]+)"/g, (_, token) => `"nextPageToken": "${this.#name("token", token)}"`)
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => this.#name("id", id))
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>");
  }

  /** The text with what the names stand for in their place. */
  show(text: string): string {
    return text.replace(/<(?:id|token) \d+>/g, (name) => {
      const [value] = [...this.#names].find(([, known]) => known === name) ?? [];
      if (value === undefined) throw new SyntaxError(`Cannot read a golden file: ${name} was not seen before`);
      return value;
    });
  }

  #name(kind: string, value: string): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const count = [...this.#names.values()].filter((name) => name.startsWith(`<${kind} `)).length;
    const name = `<${kind} ${count + 1}>`;
    this.#names.set(value, name);
    return name;
  }
}
