import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parse } from 'csv-parse/sync';
import { SetUpError } from './program/set-up-error.js';
import { parseSignup, type Signup } from './signup.js';

/** A row of the file: a sign-up or a problem. */
export type Row = { line: number; signup: Signup } | { line: number; problem: string };

const COLUMNS = ['email', 'name'];

/**
 * Reads sign-ups from a CSV file line by line. Names have no line breaks, so an unclosed quote breaks only its own
 * line. A broken row yields its problem, and the next row follows.
 */
export async function* readSignups(path: string): AsyncGenerator<Row> {
  const lineOf = new Map<string, number>();
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    line++;
    if (line === 1) checkHeader(path, text);
    else if (text.trim()) yield readRow(line, text, lineOf);
  }
}

function readRow(line: number, text: string, lineOf: Map<string, number>): Row {
  try {
    const [email, name] = readFields(text);
    const signup = parseSignup({ email, name });
    const before = lineOf.get(signup.email);
    if (before) return { line, problem: `${signup.email} is already on line ${before}` };
    lineOf.set(signup.email, line);
    return { line, signup };
  } catch (error) {
    return { line, problem: (error as Error).message };
  }
}

function readFields(text: string): string[] {
  const fields = split(text);
  if (fields.length === COLUMNS.length) return fields;
  throw new Error(`expected ${COLUMNS.length} columns (${COLUMNS.join()}), got ${fields.length}: ${text}`);
}

function split(text: string): string[] {
  try {
    return parse(text, { bom: true, relax_column_count: true })[0] ?? [];
  } catch {
    // The parser's own message is about bytes and options.
    throw new Error(`expected quotes around a whole field and "" for a quote in it, got ${text}`);
  }
}

function checkHeader(path: string, text: string): void {
  if (split(text).join() === COLUMNS.join()) return;
  throw new SetUpError(`${path}: expected the first line to be ${COLUMNS.join()}, got ${text.slice(0, 80)}`);
}
