import type { Command } from '../command.js';
import { requireExisting } from '../existing-queue.js';
import { table, time } from '../output.js';

export const groups: Command = {
  usage: '<queue> [--limit N] [--after GROUP]',
  args: [1, 1],
  options: { limit: { type: 'string' }, after: { type: 'string' } },
  async run({ engine, args: [queue], options, output }) {
    await requireExisting({ engine }, queue);
    const limit = options.wholeNumber('limit', 1, 1_000) ?? 100;
    const page = await engine.admin.groups(queue!, { limit, after: options.text('after') });
    const rows = page.groups.map(({ group, state, weight, restsUntil }) => [group, state, weight, time(restsUntil)]);
    const lines = () => [
      table(['GROUP', 'STATE', 'WEIGHT', 'RESTS UNTIL'], rows, 'No groups.'),
      ...(page.next === undefined ? [] : [`More: --after ${page.next}`]),
    ];
    output.result(page, () => lines().join('\n'));
  },
};
