import type { QueueError } from '../../../admin/list-errors.js';
import type { Command } from '../command.js';
import { requireExisting } from '../existing-queue.js';
import { table, time } from '../output.js';
import { sparkline } from './history.js';

const HOUR_MS = 3_600_000;
const MAX_MESSAGE = 60;

export const errors: Command = {
  usage: '[queue] [--hours N] [--limit N]',
  args: [0, 1],
  async run({ engine, args: [queue], options, output }) {
    const hours = options.wholeNumber('hours', 1, 8_784) ?? 1;
    const limit = options.wholeNumber('limit', 1, 200) ?? 20;
    await requireExisting({ engine }, queue);
    const from = new Date(engine.clock.now().getTime() - hours * HOUR_MS);
    const found = await engine.admin.errors({ queue, from, limit });
    output.result(found, () => table(TITLES, found.map(rowOf), 'No failed attempts.'));
  },
};

const TITLES = ['QUEUE', 'ERROR', 'FAILED', 'DEAD', 'FIRST', 'LAST', 'LAST HOUR', 'NEWEST JOB', 'MESSAGE'];

function rowOf({ queue, error, failed, dead, firstAt, lastAt, lastHour, jobId, message }: QueueError) {
  return [
    ...[queue, error ?? '(others)', failed, dead, time(firstAt), time(lastAt)],
    ...[sparkline(inTwelfths(lastHour)), jobId, shortened(message ?? '')],
  ];
}

/** Twelve times five minutes: a table has no room for sixty bars. */
function inTwelfths(minutes: readonly number[]): number[] {
  return Array.from({ length: 12 }, (_, n) => minutes.slice(5 * n, 5 * n + 5).reduce((sum, failed) => sum + failed, 0));
}

function shortened(message: string): string {
  const [line = ''] = message.split('\n', 1);
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}…` : line;
}
