/**
 * The only printer: what a person or a script gets to see of a command.
 *
 * Everything is stripped of control characters, line ends and tabs aside, so that no stranger's text reaches the terminal
 * as an order (threats.md "owner's terminal").
 */
export interface Output {
  /** True: `json` is what the user wants, readable text else. */
  readonly wantsJson: boolean;
  /** One line, or several, on standard output. */
  line(text: string): void;
  /** One JSON value, on one line of standard output. */
  json(value: unknown): void;
  /** One line on standard error: what, why, what to do. */
  error(text: string): void;
  /** One line on standard error that is no complaint: what goes on. */
  note(text: string): void;
  /** Dims text on a terminal with colour; elsewhere as it is. */
  dim(text: string): string;
}

/** Prints to the process's own streams. Colour only on a terminal, and never with `NO_COLOR`. */
export function createOutput(options: { readonly wantsJson: boolean; readonly hasColour: boolean }): Output {
  return {
    wantsJson: options.wantsJson,
    line: (text) => console.log(withoutControls(text)),
    json: (value) => console.log(withoutControls(JSON.stringify(value))),
    error: (text) => console.error(withoutControls(text)),
    note: (text) => console.error(withoutControls(text)),
    dim: (text) => options.hasColour ? `\u001b[2m${withoutControls(text)}\u001b[22m` : text,
  };
}

/** Our own dimming is let through; it can only be there when a terminal asked for colour. */
const controls = /\u001b\[2?2m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text without the characters that move a cursor, set a title, or turn the direction of writing. */
export function withoutControls(text: string): string {
  return text.replace(controls, (found) => found === "\u001b[2m" || found === "\u001b[22m" ? found : "");
}
