import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFailedError, UsageError } from './errors.js';
import { printable } from './output.js';
import type { Terminal } from './terminal.js';

/**
 * Rejects if the answer is no, or if the input ends.
 *
 * @param isConfirmed whether the call has `--yes`
 */
export async function confirm(terminal: Terminal, question: string, isConfirmed: boolean): Promise<void> {
  if (isConfirmed) return;
  if (!terminal.isInteractive) throw new UsageError('expected --yes, because there is no terminal to ask');
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      terminal.writeError(chunk.toString());
      done();
    },
  });
  const { input } = terminal;
  const lines = createInterface({ input, output });
  // A question never settles if the input ends.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = input.readableEnded
      ? ''
      : await Promise.race([lines.question(`${printable(question)} [y/N] `), ended]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailedError('Nothing is changed.');
  } finally {
    lines.close();
  }
}
