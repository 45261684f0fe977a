import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finalBatchOf, completionBatchOf, outcomes, completionOf } from '../support/jobs.js';
import { describeStores } from '../support/stores.js';

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/history.md'), 'utf8');
const [TIMES, WORKERS, PEOPLE] = [...GUIDE.matchAll(/```sql\n([^`]*);\n```/g)].map(([, sql]) =>
  sql!.replace(/^--.*\n/, ''),
);

describeStores('the statistics of the guide', (setup) => {
  it('report how long jobs waited and ran', async () => {
    const { put, claim, jobs, advance, sql } = await setup();
    await put(...Array.from({ length: 101 }, () => ({ queue: 'email.send' })), {});
    advance(100_000);
    const taken = await claim({ queue: 'email.send', limit: 101 });
    const ends = taken.jobs.map((job, n) => completionOf(taken, job, outcomes.complete, { ranMs: 10 * n }));
    await jobs.complete(completionBatchOf(ends));

    const [row] = await sql<Record<string, string>>(TIMES!);

    const { jobs: count, attempts, run_avg, run_p50, run_p95, wait_p50 } = row!;
    expect([count, attempts, run_avg, run_p50, run_p95].map(Number)).toEqual([101, 1, 500, 500, 950]);
    expect(Number(wait_p50)).toBeGreaterThan(90_000);
  });

  it('count the wait of a delayed job, or of a retry, from its due time', async () => {
    const { put, claim, jobs, advance, sql } = await setup();
    await put({ queue: 'email.send', delayMs: 3_600_000 });
    advance(3_600_000);
    await jobs.promote(10);
    const first = await claim({ queue: 'email.send' });
    await jobs.complete(finalBatchOf(first, { ...outcomes.retry, delayMs: 3_600_000 }));
    advance(3_610_000);
    await jobs.promote(10);
    await jobs.complete(finalBatchOf(await claim({ queue: 'email.send' })));

    const [row] = await sql<Record<string, string>>(TIMES!);

    expect(Number(row!['wait_p50'])).toBeGreaterThan(9_000);
    expect(Number(row!['wait_p50'])).toBeLessThan(100_000);
  });

  it('report the work of each person', async () => {
    const { put, consumer, advance, sql } = await setup();
    const [first, second, third] = await put(...Array.from({ length: 3 }, () => ({ queue: 'photo.review' })));
    for (const [id, owner, heldMs] of [
      [first!, 'ann', 3_600_000],
      [second!, 'bob', 7_200_000],
      [third!, 'ann', 14_400_000],
    ] as const) {
      await consumer.assign(id, { workerId: 'w', owner, leaseMs: null }, 'anyone', () => ({ maxAttempts: 5 }));
      advance(heldMs);
      await consumer.end(id, { owner }, () => ({ outcome: outcomes.complete, retentionMs: 60_000 }));
    }

    const rows = await sql<Record<string, string>>(`${PEOPLE!} ORDER BY owner`);

    expect(rows.map(({ owner, jobs }) => [owner, Number(jobs)])).toEqual([
      ['ann', 2],
      ['bob', 1],
    ]);
    expect(Number(rows[0]!['held_ms'])).toBeGreaterThanOrEqual(18_000_000);
    expect(Number(rows[0]!['longest_ms'])).toBeLessThan(18_000_000);
  });

  it('report the work of each worker', async () => {
    const { put, claim, jobs, sql } = await setup();
    await put(...Array.from({ length: 3 }, () => ({ queue: 'email.send' })));
    for (const [workerId, limit] of [
      ['a', 1],
      ['b', 2],
    ] as const) {
      const taken = await claim({ queue: 'email.send', workerId, limit });
      await jobs.complete(
        completionBatchOf(taken.jobs.map((job) => completionOf(taken, job, outcomes.complete, { ranMs: 50 }))),
      );
    }

    const rows = await sql<Record<string, string>>(`${WORKERS!} ORDER BY worker_id`);

    expect(rows.map(({ worker_id, jobs: count, busy_ms }) => [worker_id, Number(count), Number(busy_ms)])).toEqual([
      ['a', 1, 50],
      ['b', 2, 100],
    ]);
  });
});
