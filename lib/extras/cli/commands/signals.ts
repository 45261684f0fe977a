import type { Command } from '../command.js';
import { table, time } from '../output.js';

export const signals: Command = {
  usage: '[--unmatched] [--newest] [--limit N] [--after CURSOR]',
  async run({ engine, options, output }) {
    const order = options.flag('newest') ? 'newest' : 'oldest';
    const page = await engine.admin.signals({ unmatched: options.flag('unmatched') }, { order, ...options.page() });
    const rows = page.signals.map(({ name, key, sentAt, expiresAt, isMatched }) => [
      ...[name, key, time(sentAt), time(expiresAt), isMatched ? 'yes' : 'no'],
    ]);
    output.page(page, () => table(['NAME', 'KEY', 'SENT', 'EXPIRES', 'MATCHED'], rows, 'No signals.'));
  },
};
