import { systemClock } from '../../../common/clock.js';
import { QueueSettings } from '../../../engine/queue-settings.js';
import { openUnchecked, type UncheckedStore } from '../../../store/open-unchecked.js';
import { readPendingMigration, type PendingMigration } from '../../../store/databases/read-pending-migration.js';
import { schemaVersion } from '../../../store/schema/migrations.js';
import type { Command, UnopenedCall } from '../command.js';
import { connect, existingDataSource } from '../connect.js';

export const migrate: Command = {
  usage: '[--print]',
  async runUnopened(call) {
    if (call.options.flag('print')) return print(call);
    const engine = await connect(call.target);
    await engine.shutdown.close();
    const version = schemaVersion();
    call.output.result({ version }, () => `The tables have version ${version}.`);
  },
};

async function print({ target, output }: UnopenedCall): Promise<void> {
  const { shortestLeaseMs } = new QueueSettings({}).extremes;
  const { prefix } = target;
  const dataSource = existingDataSource(target);
  const opened = await openUnchecked({ dataSource, prefix, clock: systemClock, shortestLeaseMs });
  const { from, statements } = await pendingOn(opened);
  const version = schemaVersion();
  output.result({ from, version, statements }, () =>
    statements.length === 0
      ? `-- The tables have version ${version}: nothing to do.`
      : [`-- From version ${from} to ${version}`, ...statements.map((sql) => `${sql};`)].join('\n\n'),
  );
}

async function pendingOn({ database, schema, templates, close }: UncheckedStore): Promise<PendingMigration> {
  try {
    return await readPendingMigration(database, schema, templates);
  } finally {
    await close();
  }
}
