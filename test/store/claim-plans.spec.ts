import { claimRequest, finalBatchOf, newJob } from '../support/jobs.js';
import { interceptingDriver, statementsOf } from '../support/intercepting-driver.js';
import { describeStoresOf } from '../support/stores.js';

interface Plan {
  table: string | null;
  type: string | null;
  key: string | null;
  Extra: string | null;
}

const PRIORITIES = 7;

// plans.long.spec.ts covers the locking statements at more sizes. This file adds the reads without locks, in each
// order.
describeStoresOf(['mysql', 'mariadb'], 'every statement of a claim, oldest or youngest first,', (setup) => {
  it.each([60, 3_000])('reads an index and sorts nothing, among %i jobs of seven priorities', async (size) => {
    const world = await setup();
    const seen = new Set<string>();
    const problems = new Set<string>();
    const driver = interceptingDriver(async (text, ask) => {
      for (const sql of statementsOf(text).filter(readsJobs)) {
        for (const plan of await ask<Plan>(`EXPLAIN FORMAT = TRADITIONAL ${sql}`)) {
          seen.add(plan.key ?? 'none');
          if (isBad(plan, sql)) problems.add(`${plan.type} ${plan.key} ${plan.Extra}: ${sql}`);
        }
      }
    });
    const { jobs } = await world.open({ dataSource: await world.connect({ driver }) });
    await world.jobs.enqueue(Array.from({ length: size }, (_, n) => newJob({ priority: (n % PRIORITIES) - 3 })));
    await jobs.chooseStrategies(new Map([['q', 'auto']]));

    for (const strategy of ['skip-locked', 'update', 'optimistic'] as const) {
      for (const order of ['fifo', 'lifo', 'fifo', 'lifo'] as const) {
        const request = claimRequest({ limit: 3, order, strategy });
        const claimed = await jobs.claim(request);
        expect({ strategy, order, hasSome: claimed.length > 0 }).toEqual({ strategy, order, hasSome: true });
        await jobs.complete(finalBatchOf({ id: request.claimId, workerId: request.workerId, jobs: claimed }));
      }
    }

    expect([...problems]).toEqual([]);
    expect(seen).toContain('sql_queue_jobs_queue');
  });
});

function readsJobs(sql: string): boolean {
  return /sql_queue_jobs/.test(sql) && /^\s*(SELECT|UPDATE)\b/.test(sql);
}

function isBad({ table, type, Extra }: Plan, sql: string): boolean {
  // The planner already found no row for the key.
  if (table === null) return false;
  // MySQL collects the rows that an UPDATE with an order will change, up to its limit.
  const sorts = sql.trimStart().startsWith('UPDATE') ? /filesort/ : /filesort|temporary/;
  return sorts.test(Extra ?? '') || type === 'ALL' || type === 'index';
}
