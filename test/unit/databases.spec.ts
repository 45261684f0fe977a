import type { DataSource, DataSourceOptions, QueryRunner } from 'typeorm';
import { systemClock } from '../../lib/common/clock.js';
import { openEngine } from '../../lib/engine/engine.js';
import { DATABASE_TYPES, databaseOf } from '../../lib/store/databases/index.js';
import { hostList } from '../../lib/store/databases/port/hosts.js';
import { sqlQueueMigrations } from '../../lib/store/databases/typeorm-migrations.js';
import { leaseStoreOptions } from '../../lib/store/lease-store-options.js';
import { openLeaseStore } from '../../lib/store/open-lease-store.js';
import { openStore } from '../../lib/store/open-store.js';
import { openUnchecked } from '../../lib/store/open-unchecked.js';
import { tableNames } from '../../lib/store/tables/table-names.js';
import { freshDatabase } from '../support/servers.js';

const options = { type: 'oracle' } as DataSourceOptions;
const dataSource = { options, isInitialized: true } as DataSource;
const lease = { hosts: hostList(), shortestLeaseMs: 1_000, skewMs: 0 };
const settings = { dataSource, clock: systemClock, shortestLeaseMs: 1_000, largestPayloadBytes: 1_000 };

const migrate = (direction: 'up' | 'down') => {
  const query = () => Promise.reject(new Error('sent a statement'));
  const [Migration] = sqlQueueMigrations();
  return new Migration!()[direction]({ dataSource, query } as unknown as QueryRunner);
};

const WAYS_IN: Readonly<Record<string, () => Promise<unknown>>> = {
  'the engine': () => openEngine({ dataSource, options: {}, logger: { log, debug: log, warn: log, error: log } }),
  'the store': () => openStore({ ...settings, migrate: 'run' }),
  'the doctor': () => openUnchecked(settings),
  'the options of the heartbeat': async () => leaseStoreOptions(dataSource, { prefix: undefined, ...lease }),
  'a migration': () => migrate('up'),
  'the revert of a migration': () => migrate('down'),
};

function log(): void {}

describe('a DataSource of an unknown type', () => {
  it.each(Object.keys(WAYS_IN))('is refused by %s with the supported types and the way out', async (way) => {
    const opening = WAYS_IN[way]!();

    await expect(opening).rejects.toMatchObject({
      code: 'UNSUPPORTED_DATABASE',
      message: expect.stringMatching(
        /^Expected a DataSource of type mysql, mariadb or better-sqlite3, got oracle\. To keep the application on oracle, give the queue a database of its own: /,
      ) as string,
    });
  });
});

describe('the records of the databases', () => {
  it('name each type of a DataSource once', () => {
    expect(new Set(DATABASE_TYPES).size).toBe(DATABASE_TYPES.length);
  });

  it.each(DATABASE_TYPES)('have a connection for the heartbeat of %s', async (type) => {
    const { connection, drop } = await freshDatabase({ name: 'sqlite', url: '' });
    onTestFinished(drop);
    const given = { ...connection, type } as DataSourceOptions;

    const store = await openLeaseStore({ options: given, tables: tableNames(), ...lease });

    await expect(store.close()).resolves.toBeUndefined();
  });

  it.each(DATABASE_TYPES)('have the tables, the place and the checks of %s', (type) => {
    const { schema, connection, checks } = databaseOf(type);

    expect(
      schema
        .migrations()[0]!
        .up.map(({ sql }) => sql)
        .join(),
    ).toContain('{jobs}');
    expect(connection.placeOf({ type, database: 'app' } as DataSourceOptions)).toContain('app');
    expect(checks.map(({ name }) => name)).toContain('tables');
  });
});
