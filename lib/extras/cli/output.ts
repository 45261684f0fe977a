// Texts of other programs must not control the terminal, nor turn the direction of its text. Lines stay lines.
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export type Cell = string | number | boolean | null | undefined;

/** Writes results: one JSON document for programs, or text for people. */
export class Output {
  constructor(
    readonly isJson: boolean,
    private readonly write: (text: string) => void,
  ) {}

  /** @param data for programs; `text` is for people */
  result(data: unknown, text: () => string): void {
    this.write(`${this.isJson ? escaped(JSON.stringify(data, undefined, 2)) : printable(text())}\n`);
  }

  /** A page of a list, with the cursor of the next one. */
  page<Page extends { readonly next?: string | undefined }>(page: Page, text: () => string): void {
    this.result(page, () => [text(), ...(page.next === undefined ? [] : [`More: --after ${page.next}`])].join('\n'));
  }

  /** One of several results that come one after another: for programs one line of JSON each. */
  item(data: unknown, text: () => string): void {
    this.write(`${this.isJson ? escaped(JSON.stringify(data)) : printable(text())}\n`);
  }
}

export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, '\ufffd');
}

/** The same JSON. Programs read the characters, and a terminal shows their codes. */
function escaped(json: string): string {
  return json.replace(CONTROL_CHARACTERS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Columns with a title, padded. Numbers end at the same place. A cell is one line.
 *
 * @param empty the text of a table without rows
 */
export function table(titles: readonly string[], rows: readonly (readonly Cell[])[], empty?: string): string {
  if (rows.length === 0 && empty !== undefined) return empty;
  const texts = rows.map((row) => row.map((cell) => (cell ?? '').toString().replace(/\s+/g, ' ')));
  const widths = titles.map((title, column) => Math.max(title.length, ...texts.map((row) => row[column]!.length)));
  const isNumber = titles.map((_, column) => rows.some((row) => typeof row[column] === 'number'));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd();
  return [titles, ...texts].map(line).join('\n');
}

export function time(date: Date | null): string {
  return date ? date.toISOString().replace('T', ' ').replace('Z', '') : '';
}
