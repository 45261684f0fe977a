import { DataSource, type DataSourceOptions } from 'typeorm';
import { vi } from 'vitest';
import { bench } from '../../lib/extras/cli/commands/bench.js';
import { describeServers, freshDatabase, type TestDatabase } from '../support/servers.js';

const MEASUREMENTS = [
  ...['enqueue, one by one', 'enqueue, 50 at a time', 'enqueueMany, 1000 at a time'],
  ...['run, one job at a time, concurrency 10', 'run, batches of 100, no history', 'enqueue to start, idle worker'],
];

describeServers('the command bench', (server) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase(server);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => database.drop());

  it('prints all measurements, and drops its tables at the end, also in a database that has had none', async () => {
    const { connection } = database;
    const url = 'url' in connection ? connection.url : `sqlite:${connection.database}`;
    const printed: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));

    await bench({ url, jobs: 1_000, bytes: 10, claim: 'auto' });

    for (const title of MEASUREMENTS) expect(printed.join('\n')).toContain(title);
    expect(await tablesOf(connection as DataSourceOptions)).toEqual([]);
  });
});

async function tablesOf(connection: DataSourceOptions): Promise<unknown[]> {
  const dataSource = await new DataSource(connection).initialize();
  const sql =
    connection.type === 'better-sqlite3'
      ? `SELECT name FROM sqlite_master WHERE name LIKE 'sql_queue_bench%'`
      : `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()`;
  const tables = await dataSource.query<unknown[]>(sql);
  await dataSource.destroy();
  return tables;
}
