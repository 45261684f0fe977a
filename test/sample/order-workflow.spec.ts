import Database from 'better-sqlite3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

let main: string;
let cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  main = await buildSample('09-order-workflow');
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

describe('the order workflow sample', () => {
  it('reserves and ships each order once, although the worker is killed', async () => {
    const { start, entries } = await setup();

    const sample = start();
    const end = await sample.ended;

    expect(end).toBe(0);
    expect(sample.output).toContain('approved by ada');
    expect(entries('reserved')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(entries('shipped')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(entries('mailed')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(sample.output).toMatch(/order 2 was picked from l2 and d2, reserved/);
    expect(new Set(entries('charged'))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    expect(sample.output).toMatch(/Stopped: 6 reserved, \d+ charged, 6 shipped, 6 mailed/);
  });

  it('stops cleanly at Ctrl-C, is killed, and the next start goes on', async () => {
    const { start, entries } = await setup();

    const interrupted = start();
    await interrupted.until(/charged/);
    interrupted.ctrlC();
    const end = await interrupted.ended;
    const killed = start();
    await killed.until(/approved/);
    killed.kill();
    await killed.ended;
    const last = start();

    expect([end, await last.ended]).toEqual([0, 0]);
    for (const entry of ['reserved', 'shipped', 'mailed']) expect(entries(entry)).toEqual([...new Set(entries(entry))]);
  });
});

async function setup() {
  const cwd = await mkdtemp(join(tmpdir(), 'sql-queue-orders-'));
  cleanups.push(() => rm(cwd, { recursive: true, force: true }));
  return {
    start: () => {
      const sample = new SampleProcess({ main, args: [], cwd, env: {} });
      cleanups.push(async () => {
        sample.kill();
        await sample.ended;
      });
      return sample;
    },
    /** The orders with such an entry of a step. */
    entries: (entry: string): number[] => {
      const database = new Database(join(cwd, 'orders.sqlite'), { readonly: true });
      const rows = database
        .prepare(`SELECT orderId FROM sample_order_log WHERE entry LIKE ? ORDER BY orderId`)
        .all(`${entry}%`) as { orderId: number }[];
      database.close();
      return rows.map(({ orderId }) => orderId);
    },
  };
}
