import { jsonOf } from '../../../common/message-text.js';
import type { Command } from '../command.js';
import { requireExisting } from '../existing-queue.js';
import { table, time } from '../output.js';

export const waits: Command = {
  usage: '[--name N] [--key K] [--queue Q] [--limit N] [--after CURSOR]',
  async run({ engine, options, output }) {
    const filter = options.given('name', 'key', 'queue');
    const asked = options.page();
    await requireExisting({ engine }, filter.queue);
    const page = await engine.admin.waits(filter, asked);
    const rows = page.waits.map(({ name, key, jobId, queue, jobName, until }) => [
      ...[name, key === null ? '' : jsonOf(key), jobId, queue, jobName, time(until)],
    ]);
    const titles = ['SIGNAL', 'KEY', 'JOB', 'QUEUE', 'NAME', 'UNTIL'];
    output.page(page, () => table(titles, rows, 'No job waits for a signal.'));
  },
};
