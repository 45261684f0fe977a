import type { Command } from '../command.js';
import { table, time } from '../output.js';

export const signals: Command = {
  usage: '[--unmatched] [--newest] [--limit N] [--after CURSOR]',
  async run({ engine, options, output }) {
    const page = await engine.admin.signals(
      { unmatched: options.flag('unmatched') },
      {
        order: options.flag('newest') ? 'newest' : 'oldest',
        limit: options.wholeNumber('limit', 1, 1_000) ?? 20,
        after: options.text('after'),
      },
    );
    const rows = page.signals.map(({ name, key, sentAt, expiresAt, isMatched }) => [
      ...[name, key, time(sentAt), time(expiresAt), isMatched ? 'yes' : 'no'],
    ]);
    output.result(page, () =>
      [
        table(['NAME', 'KEY', 'SENT', 'EXPIRES', 'MATCHED'], rows, 'No signals.'),
        ...(page.next === undefined ? [] : [`More: --after ${page.next}`]),
      ].join('\n'),
    );
  },
};
