/** One line of a report: a ratio where there is one, beside the number it is made from. */
export interface Row {
  readonly what: string;
  readonly ratio?: number;
  /** What the ratio compares with. */
  readonly to?: string;
  readonly value: number;
  readonly unit: string;
  /** What must hold of the ratio, or of the value when there is none. */
  readonly limit?: Limit;
}

/** A promise (product.md §15) or an expectation. */
export type Limit = { readonly atMost: number } | { readonly atLeast: number };

/** What one bench found. */
export interface Report {
  readonly name: string;
  readonly about: string;
  readonly rows: readonly Row[];
}

/** Says whether a row keeps its limit; undefined when it has none. */
export function keepsLimit({ ratio, value, limit }: Row): boolean | undefined {
  if (limit === undefined) return undefined;
  const measured = ratio ?? value;
  return "atMost" in limit ? measured <= limit.atMost : measured >= limit.atLeast;
}

/** A report as a Markdown table that also reads well in a terminal. */
export function tableOf({ name, about, rows }: Report): string {
  const head = ["what", "ratio", "to", "measured", "limit"];
  const cells = rows.map((row) => [
    row.what,
    row.ratio === undefined ? "" : numberText(row.ratio),
    row.to ?? "",
    `${numberText(row.value)} ${row.unit}`,
    limitText(row),
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [`### ${name}`, "", about, "", line(head), rule, ...cells.map(line), ""].join("\n");
}

function limitText(row: Row): string {
  if (row.limit === undefined) return "";
  const text = "atMost" in row.limit ? `at most ${row.limit.atMost}` : `at least ${row.limit.atLeast}`;
  return `${text}: ${keepsLimit(row) ? "kept" : "MISSED"}`;
}

function numberText(value: number): string {
  if (value >= 100) return value.toLocaleString("en-GB", { maximumFractionDigits: 0 });
  return value.toPrecision(3);
}
