import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { describeServers, freshDatabase, type TestServer } from '../support/servers.js';
import { buildSample, type BuiltSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

const PATIENCE_MS = 120_000;

let built: BuiltSample;
let cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  built = await buildSample('02-outbox');
}, 60_000);

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

afterAll(() => built?.remove());

describeServers('the outbox sample', (server) => {
  it(
    'killed again and again writes exactly one invoice for each order, and none for one that was refused',
    async () => {
      const { start, sql } = await setup(server);

      for (const invoices of [1, 3, 1, 5, 2]) {
        const doomed = start();
        await doomed.until(new RegExp(`(invoice \\d+ for[^]*){${invoices}}`));
        doomed.kill();
        await doomed.ended;
      }
      const last = start();

      expect(await last.ended).toBe(0);
      expect(last.output).toContain('Stopped: 54 orders, 54 invoiced, 0 twice, 0 jobs left.');
      const orders = await sql('SELECT id FROM sample_orders ORDER BY id');
      const invoices = await sql('SELECT order_id AS id FROM sample_invoices ORDER BY order_id');
      const jobs = await sql('SELECT payload FROM sql_queue_history ORDER BY id');
      expect(invoices).toEqual(orders);
      expect(jobs.map(({ payload }) => JSON.parse(payload as string) as unknown)).toEqual(
        orders.map(({ id }) => ({ orderId: id })),
      );
    },
    PATIENCE_MS,
  );

  it(
    'ends cleanly at Ctrl-C in the middle, and the next start goes on',
    async () => {
      const { start } = await setup(server);

      const interrupted = start();
      await interrupted.until(/invoice \d+ for/);
      interrupted.ctrlC();
      const end = await interrupted.ended;
      const next = start();

      expect([end, await next.ended]).toEqual([0, 0]);
      expect(interrupted.number(/, (\d+) jobs left\.\n$/)).toBeGreaterThan(0);
      expect(next.output).toContain('Orders: 0 placed, 6 refused, 54 placed before.');
      expect(next.output).toContain('Stopped: 54 orders, 54 invoiced, 0 twice, 0 jobs left.');
    },
    PATIENCE_MS,
  );
});

async function setup(server: TestServer) {
  const cwd = await mkdtemp(join(tmpdir(), 'sql-queue-outbox-'));
  cleanups.push(() => rm(cwd, { recursive: true, force: true }));
  const database = await freshDatabase(server);
  cleanups.push(() => database.drop());
  const { connection } = database;
  const DATABASE_URL = 'url' in connection ? connection.url : undefined;
  return {
    start: () => {
      const sample = new SampleProcess({ main: built.main, args: [], cwd, env: { DATABASE_URL } });
      cleanups.push(() => sample.kill());
      return sample;
    },
    /** Looks at what the processes have left. */
    sql: async (text: string): Promise<Record<string, unknown>[]> => {
      const file = { type: 'better-sqlite3', database: join(cwd, 'outbox.sqlite') } as const;
      const dataSource = await new DataSource('url' in connection ? connection : file).initialize();
      try {
        return await dataSource.query<Record<string, unknown>[]>(text);
      } finally {
        await dataSource.destroy();
      }
    },
  };
}
