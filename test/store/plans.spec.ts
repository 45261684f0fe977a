import type { DataSource } from 'typeorm';
import { MysqlPool } from '../../lib/store/dialects/mysql-pool.js';
import { mysql } from '../../lib/store/dialects/mysql.js';
import { closeLine } from '../../lib/store/dialects/numbered-commits.js';
import type { Settlement } from '../../lib/store/job-store.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { insertJobs } from '../../lib/store/sql/enqueue.js';
import { unlocked } from '../../lib/store/sql/lease.js';
import { lockedOut } from '../../lib/store/sql/survivors.js';
import { Templates } from '../../lib/store/sql/template.js';
import { tableNames } from '../../lib/store/tables.js';
import { systemClock } from '../../lib/time/clock.js';
import { archivedTo } from '../support/archives.js';
import { everyLock, everyStrategy, everyVerb } from '../support/every-verb.js';
import { lockingStatements, locks } from '../support/locking-statements.js';
import { claimOf, endOf, newJob, outcomes } from '../support/jobs.js';
import { keyed } from '../support/keyed.js';
import { fill } from '../support/noise.js';
import { recordingDriver, statementsOf } from '../support/recording-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';

interface Plan {
  select_type: string;
  table: string | null;
  type: string | null;
  key: string | null;
  Extra: string | null;
}

// A plan that reads a table or an index from end to end waits for, and locks, rows of other workers.
describeStoresOf(['mysql', 'mariadb'], 'every statement that locks rows', (setup) => {
  it.each([0, 5, 60, 3_000, 100_000])('reads its own index and sorts nothing, among %i rows', async (size) => {
    const world = await setup();
    await fill(world.dataSource, size);

    const { problems, statements } = await explainEverything(world);

    expect(problems).toEqual([]);
    // What the source has and no verb sends, or the other way round, is checked by nobody.
    const known = lockingStatements(world.store.server.name);
    expect(known.filter((expression) => !statements.some((sql) => expression.test(sql)))).toEqual([]);
    expect(statements.filter((sql) => !known.some((expression) => expression.test(sql)))).toEqual([]);
  });
});

/** Finished jobs that move on to an archive, some of which is there. */
async function everyArchiving(world: World, dataSource: DataSource): Promise<void> {
  const { jobs } = await world.open({ dataSource, archives: archivedTo('sql_queue_archive') });
  for (const count of [1, 3, 40]) {
    await jobs.enqueue(Array.from({ length: count }, () => newJob({ priority: -9 })));
    const request = claimOf({ limit: count });
    const taken = { id: request.claimId, workerId: request.workerId, jobs: await jobs.claim(request) };
    await jobs.settle(endOf(taken, outcomes.complete, { keepMs: 0 }));
    // Earlier jobs that had the ids of some.
    await world.sql(
      `INSERT INTO sql_queue_archive
       SELECT * FROM sql_queue_history WHERE expires_at = finished_at ORDER BY id DESC LIMIT ${Math.floor(count / 2)}`,
    );
    await world.sql('UPDATE sql_queue_archive SET created_at = 1 WHERE created_at > 1');
    world.advance(1);
    while ((await jobs.prune(100)) > 0);
  }
}

async function explainEverything(world: World) {
  const problems = new Set<string>();
  const statements = new Set<string>();
  let phase = 'before ANALYZE';
  const driver = recordingDriver(async (text, ask) => {
    for (const sql of statementsOf(text).filter(locks)) {
      statements.add(sql);
      for (const plan of await ask<Plan>(`EXPLAIN FORMAT = TRADITIONAL ${sql}`)) {
        const problem = problemOf(plan, sql);
        if (problem) problems.add(`${phase} it ${problem}: ${withoutValues(sql)}`);
      }
    }
  });
  const dataSource = await world.connect({ driver });
  const recorder = { isRecorded: () => true, onRecorded: () => {} };
  const store = await world.open({ dataSource, recorder });

  await everyVerb(store, world.advance);
  await everyStrategy(store);
  await everyLock(store);
  await whatCallersNeed(dataSource, store);
  await everyArchiving(world, dataSource);
  await everyBurial(world, dataSource);
  await whatFaultsNeed(dataSource);
  await world.sql(
    `ANALYZE TABLE sql_queue_jobs, sql_queue_claims, sql_queue_history, sql_queue_workers, sql_queue_producers,
                   sql_queue_queues, sql_queue_subscriptions, sql_queue_waits, sql_queue_progress, sql_queue_logs, sql_queue_locks,
                   sql_queue_keys, sql_queue_archive`,
  );
  phase = 'after ANALYZE';
  await everyVerb(store, world.advance);
  await everyLock(store);
  await whatCallersNeed(dataSource, store);
  await everyArchiving(world, dataSource);
  await everyBurial(world, dataSource);
  await whatFaultsNeed(dataSource);

  return { problems: [...problems], statements: [...statements] };
}

/** Sent in transactions of the application's. */
async function whatCallersNeed(dataSource: DataSource, { jobs }: OpenStore): Promise<void> {
  for (const count of [1, 3, 40]) {
    const given = Array.from({ length: count }, (_, n) =>
      keyed({ key: `caller ${count}.${n}`, onConflict: 'replace' }),
    );
    for (let times = 0; times < 2; times++) await dataSource.transaction((tx) => jobs.enqueueKeyedWithin(given, tx));
  }
}

/** Jobs that another program has written wrongly. */
async function everyBurial(world: World, dataSource: DataSource): Promise<void> {
  const { jobs } = await world.open({ dataSource });
  const odd = (columns: string, values: string) =>
    world.sql(`INSERT INTO sql_queue_jobs (queue, payload, ${columns}) VALUES ('odd', '1', ${values})`);
  for (const count of [1, 3, 40]) {
    for (let n = 1; n <= count; n++) {
      await odd('state', `'odd'`);
      await odd('id', `-${9_007_199_254_740_992n + BigInt(n)}`);
    }
    await jobs.claim(claimOf({ queue: 'odd' }));
    await jobs.sweep(count);
  }
}

/** Sent only where an answer was lost, or somebody keeps a lock for long. */
async function whatFaultsNeed(dataSource: DataSource): Promise<void> {
  const pool = await MysqlPool.open(dataSource, new Templates(tableNames(), mysql.now, () => 0), systemClock, 30_000);
  for (const count of [1, 5, 100]) {
    await pool.repeatable(() =>
      lockedOut(Array.from({ length: count }, (_, n) => ({ job: { id: n + 1 } }) as Settlement)),
    );
    await pool.repeatable(() => unlocked(Array.from({ length: count }, (_, n) => n + 1)));
    await pool.transaction(() => closeLine(count));
  }
  // Ends its line when it closes.
  await pool.once([insertJobs([newJob({ queue: 'other' })])]);
  await pool.close();
}

function withoutValues(sql: string): string {
  return sql
    .trim()
    .replace(/'(\\.|[^'\\])*'|\b\d+\b/g, '?')
    .replace(/(\?, )*\?\)/g, '…)')
    .replace(/\s+/g, ' ');
}

function problemOf({ select_type, table, type, key, Extra }: Plan, sql: string): string | undefined {
  // The table that rows are copied into.
  if (select_type === 'INSERT' || select_type === 'REPLACE') return undefined;
  // Found empty by its key, while it was being planned.
  if (table === null) return undefined;
  // MySQL notes which rows an UPDATE with an order is to change before it changes them: the ids of as many as its limit.
  const isNoting = sql.trimStart().startsWith('UPDATE');
  if ((isNoting ? /filesort/ : /filesort|temporary/).test(Extra ?? '')) return `sorts (${Extra})`;
  // The claim of an UPDATE of jobs is read, and locked, in a subquery.
  const expected = table === 'sql_queue_claims' ? 'PRIMARY' : (/FORCE INDEX \((\w+)\)/.exec(sql)?.[1] ?? 'PRIMARY');
  if (key !== expected || type === 'ALL' || type === 'index') return `reads ${key} (${type}), not ${expected}`;
  return undefined;
}
