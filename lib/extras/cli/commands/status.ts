import { age } from '../../../common/units.js';
import type { JobCount, QueueStats } from '../../../store/features/stats/stats-store.js';
import type { Command } from '../command.js';
import { requireExisting } from '../existing-queue.js';
import { table } from '../output.js';
import { readStats } from './read-stats.js';

export const status: Command = {
  usage: '[queue]',
  args: [0, 1],
  async run({ engine, args: [queue], output }) {
    await requireExisting({ engine }, queue);
    const stats = await readStats(engine, queue === undefined ? {} : { queue });
    output.result(stats, () => statusTable(stats));
  },
};

const TITLES = [
  'QUEUE',
  'WAITING',
  'SCHEDULED',
  'BLOCKED',
  'STAGED',
  'ACTIVE',
  'DEAD',
  'OLDEST',
  'NEXT DUE',
  'WORKERS',
];

export function statusTable(stats: readonly QueueStats[]): string {
  const rows = stats.map((one) => [
    one.paused ? `${one.queue} (paused)` : one.queue,
    ...[one.waiting, one.scheduled, one.blocked, one.staged].map(count),
    one.active + one.prefetched,
    count(one.dead),
    ...[one.oldestWaitingMs, one.nextDueInMs].map(age),
    one.workers,
  ]);
  return table(TITLES, rows, 'No queues.');
}

function count({ value, atLeast }: JobCount): string | number {
  return atLeast ? `${value}+` : value;
}
