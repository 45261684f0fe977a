import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flushOf, outcomes, settled } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/history.md'), 'utf8');
const [TIMES, WORKERS] = [...GUIDE.matchAll(/```sql\n([^`]*);\n```/g)].map(([, sql]) => sql!.replace(/^--.*\n/, ''));

describeStores('the statistics of the guide', (setup) => {
  it('tell how long jobs waited and ran', async () => {
    const { put, claim, jobs, advance, sql } = await setup();
    await put(...Array.from({ length: 101 }, () => ({ queue: 'email.send' })), {});
    advance(100_000);
    const taken = await claim({ queue: 'email.send', limit: 101 });
    const ends = taken.jobs.map((job, n) => settled(taken, job, outcomes.complete, { ranMs: 10 * n }));
    await jobs.settle(flushOf(ends));

    const [row] = await sql<Record<string, string>>(TIMES!);

    const { jobs: count, attempts, run_avg, run_p50, run_p95, wait_p50 } = row!;
    expect([count, attempts, run_avg, run_p50, run_p95].map(Number)).toEqual([101, 1, 500, 500, 950]);
    expect(Number(wait_p50)).toBeGreaterThan(90_000);
  });

  it('tell who did how much', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put(...Array.from({ length: 3 }, () => ({ queue: 'email.send' })));
    for (const [workerId, limit] of [
      ['a', 1],
      ['b', 2],
    ] as const) {
      const taken = await claim({ queue: 'email.send', workerId, limit });
      await jobs.settle(flushOf(taken.jobs.map((job) => settled(taken, job, outcomes.complete, { ranMs: 50 }))));
    }

    const rows = await sql<Record<string, string>>(`${WORKERS!} ORDER BY worker_id`);

    expect(rows.map(({ worker_id, jobs: count, busy_ms }) => [worker_id, Number(count), Number(busy_ms)])).toEqual([
      ['a', 1, 50],
      ['b', 2, 100],
    ]);
  });
});
