import type { Command } from '../command.js';
import type { WorkerQueue } from '../../../store/admin/admin-store.js';
import { table, time } from '../output.js';

export const workers: Command = {
  usage: '',
  async run({ engine, output }) {
    const found = await engine.admin.workers();
    const rows = found.map((worker) => [
      ...[worker.id, worker.host, worker.pid],
      ...[
        time(worker.startedAt),
        time(worker.seenAt) + (worker.isSilent ? ' silent' : ''),
        worker.queues.map(slotsText).join(', '),
      ],
    ]);
    const columns = ['ID', 'HOST', 'PID', 'STARTED', 'SEEN', 'QUEUES: RUNNING/SLOTS'];
    output.result(found, () => table(columns, rows, 'No workers.'));
  },
};

function slotsText({ queue, slots, running, prefetched }: WorkerQueue): string {
  return `${queue} ${running}/${slots}${prefetched > 0 ? ` +${prefetched} prefetched` : ''}`;
}
