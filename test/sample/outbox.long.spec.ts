import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { describeServers } from '../support/servers.js';
import { runsOf, type SampleRuns } from './sample-runs.js';

const setup = runsOf('02-outbox');

describeServers('the outbox sample', (server) => {
  it('writes exactly one invoice for each order and none for a rejected order, however often it is killed', async () => {
    const runs = await setup(server);

    for (const invoices of [1, 3, 1, 5, 2]) {
      const doomed = runs.start();
      await doomed.until(new RegExp(`(invoice \\d+ for[^]*){${invoices}}`));
      doomed.kill();
      await doomed.ended;
    }
    const last = runs.start();

    expect(await last.ended).toBe(0);
    expect(last.output).toContain('Stopped: 54 orders, 54 invoiced, 0 twice, 0 jobs left.');
    const orders = await read(runs, 'SELECT id FROM sample_orders ORDER BY id');
    const invoices = await read(runs, 'SELECT order_id AS id FROM sample_invoices ORDER BY order_id');
    const jobs = await read(runs, 'SELECT payload FROM sql_queue_history ORDER BY id');
    expect(invoices).toEqual(orders);
    expect(jobs.map(({ payload }) => JSON.parse(payload as string) as unknown)).toEqual(
      orders.map(({ id }) => ({ orderId: id })),
    );
  });

  it('stops cleanly at Ctrl-C during its work, and the next start continues', async () => {
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
  });
});

/** Reads the tables after the processes have ended. */
async function read({ connection, cwd }: SampleRuns, sql: string): Promise<Record<string, unknown>[]> {
  const file = { type: 'better-sqlite3', database: join(cwd, 'outbox.sqlite') } as const;
  const dataSource = await new DataSource('url' in connection ? connection : file).initialize();
  try {
    return await dataSource.query<Record<string, unknown>[]>(sql);
  } finally {
    await dataSource.destroy();
  }
}
