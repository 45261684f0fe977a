import { describeStoresOf, type World } from '../support/stores.js';
import { watched } from '../support/watched-reads.js';

const LARGE = 100_000;
// Prints the times, which depend on the machine.
const printsTimes = process.env.EXPLAIN_TIMES !== undefined;

describeStoresOf(['mysql', 'mariadb', 'sqlite'], 'among 100,000 waiting jobs, an explanation', (setup, { title }) => {
  it('says how many jobs come first, and reads a bounded number of rows, with and without current statistics', async () => {
    const world = await setup();
    await fill(world);
    // Only the servers count the rows that they read.
    const { reads, store } = title === 'sqlite' ? { reads: () => 0, store: world } : await watched(world, /FROM/);

    for (const [queue, order] of [
      ['large', 'fifo'],
      ['large', 'lifo'],
      ['grouped', 'fifo'],
    ] as const) {
      const last = order === 'fifo' ? 'MAX' : 'MIN';
      const [row] = await world.sql<{ id: number }>(
        `SELECT ${last}(id) AS id FROM sql_queue_jobs WHERE queue = '${queue}'`,
      );
      const id = Number(row!.id);
      for (const analyze of ['', title === 'sqlite' ? 'ANALYZE' : 'ANALYZE TABLE sql_queue_jobs']) {
        if (analyze) await world.sql(analyze);
        const before = reads();
        const facts = await store.admin.facts(id, () => order);
        expect(facts!.surroundings!.ahead).toEqual({ jobs: 200, atLeast: true, order });
        expect(reads() - before).toBeLessThan(5_000);
      }
      if (printsTimes) await printTimes(`${title}, ${queue}, ${order}`, () => world.admin.facts(id, () => order));
    }
  });
});

async function printTimes(what: string, act: () => Promise<unknown>): Promise<void> {
  const times: string[] = [];
  for (let n = 0; n < 10; n++) {
    const from = performance.now();
    await act();
    times.push((performance.now() - from).toFixed(1));
  }
  process.stderr.write(`\n${what}: ${times.join(', ')} ms\n`);
}

async function fill({ sql }: World): Promise<void> {
  const digits = Array.from({ length: 10 }, (_each, digit) => `SELECT ${digit} AS d`).join(' UNION ');
  const joins = 'abcde'.split('').map((name) => `(${digits}) AS ${name}`);
  const numbers = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d AS n FROM ${joins.join(', ')} LIMIT ${LARGE}) AS numbers`;
  const into = 'INSERT INTO sql_queue_jobs (queue, payload, priority, runnable, run_at, group_key)';
  await sql(`${into} SELECT 'large', '{"a":1}', n % 3, 1, NULL, '' FROM ${numbers}`);
  await sql(`${into} SELECT 'grouped', '{"a":1}', 0, 3, NULL, CONCAT('g', n % 2) FROM ${numbers}`);
}
