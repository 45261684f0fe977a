import type { Command } from '../command.js';
import { table, time } from '../output.js';

export const workers: Command = {
  usage: '',
  async run({ engine, output }) {
    const found = await engine.admin.workers();
    const rows = found.map((worker) => [
      ...[worker.id, worker.host, worker.pid],
      ...[time(worker.startedAt), time(worker.seenAt), worker.queues.join(', ')],
    ]);
    output.result(found, () => table(['ID', 'HOST', 'PID', 'STARTED', 'SEEN', 'QUEUES'], rows, 'No workers.'));
  },
};
