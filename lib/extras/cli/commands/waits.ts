import { jsonOf } from '../../../common/message-text.js';
import type { Command } from '../command.js';
import { requireExisting } from '../existing-queue.js';
import { table, time } from '../output.js';

export const waits: Command = {
  usage: '[--name N] [--key K] [--queue Q] [--limit N] [--after CURSOR]',
  async run({ engine, options, output }) {
    const filter = Object.fromEntries(
      ['name', 'key', 'queue'].flatMap((name) => {
        const value = options.text(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const limit = options.wholeNumber('limit', 1, 1_000) ?? 20;
    await requireExisting({ engine }, options.text('queue'));
    const page = await engine.admin.waits(filter, { limit, after: options.text('after') });
    const rows = page.waits.map(({ name, key, jobId, queue, jobName, until }) => [
      ...[name, key === null ? '' : jsonOf(key), jobId, queue, jobName, time(until)],
    ]);
    output.result(page, () =>
      [
        table(['SIGNAL', 'KEY', 'JOB', 'QUEUE', 'NAME', 'UNTIL'], rows, 'No job waits for a signal.'),
        ...(page.next === undefined ? [] : [`More: --after ${page.next}`]),
      ].join('\n'),
    );
  },
};
