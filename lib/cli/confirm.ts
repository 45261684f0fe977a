import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './command.js';
import { printable } from './output.js';
import type { Terminal } from './terminal.js';

/** @param isConfirmed whether the call has `--yes` */
export async function confirm(terminal: Terminal, question: string, isConfirmed: boolean): Promise<boolean> {
  if (isConfirmed) return true;
  if (!terminal.isInteractive) throw new UsageError('expected --yes, because there is no terminal to ask');
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      terminal.writeError(chunk.toString());
      done();
    },
  });
  const lines = createInterface({ input: terminal.input, output });
  try {
    return /^y(es)?$/i.test((await lines.question(`${printable(question)} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
