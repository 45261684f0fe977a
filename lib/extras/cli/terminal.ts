import type { Readable } from 'node:stream';

/** Where a command reads and writes. */
export interface Terminal {
  readonly input: Readable & { setRawMode?: (isRaw: boolean) => unknown };
  /** Whether somebody can answer questions. */
  readonly isInteractive: boolean;
  /** The lines of its screen; undefined if it is none. */
  readonly rows: () => number | undefined;
  /** The columns of its screen; undefined or 0: not known. */
  readonly columns?: () => number | undefined;
  write(text: string): void;
  /** For questions, warnings and errors, so that results can be piped. */
  writeError(text: string): void;
}

export const processTerminal: Terminal = {
  input: process.stdin,
  // Undefined without a terminal.
  isInteractive: Boolean(process.stdin.isTTY),
  rows: () => process.stdout.rows,
  columns: () => process.stdout.columns,
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
};
