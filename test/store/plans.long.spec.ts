import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { toEnvelope } from '../../lib/job/codec/payload-codec.js';
import { signalHash } from '../../lib/job/signal.js';
import { MysqlPool } from '../../lib/store/databases/mysql/mysql-pool.js';
import { mysql } from '../../lib/store/databases/mysql/mysql.js';
import { closeLane } from '../../lib/store/databases/mysql/commit-log.js';
import type { Completion } from '../../lib/store/rows/completion.js';
import type { OpenStore } from '../../lib/store/open-store.js';
import { insertJobs } from '../../lib/store/ends/enter-jobs.js';
import { findUnlockedClaims } from '../../lib/store/rows/lease.js';
import { findLocked } from '../../lib/store/verbs/complete-survivors.js';
import { execute } from '../../lib/store/core/statement.js';
import type { KeyedJobResult } from '../../lib/store/features/keys/key-store.js';
import { CONTENT_TABLES } from '../../lib/store/features/content/content-tables.js';
import { Templates } from '../../lib/store/core/template.js';
import { tableNames } from '../../lib/store/tables/table-names.js';
import { systemClock } from '../../lib/common/clock.js';
import { archivedTo } from '../support/archives.js';
import { everyLock, everyStrategy, everyVerb } from '../support/every-verb.js';
import { readLockingStatements, locksRows } from '../support/locking-statements.js';
import { claimFrom, claimRequest, completionOf, finalBatchOf, newJob, outcomes } from '../support/jobs.js';
import { keyedJob } from '../support/keyed-job.js';
import { fillTables } from '../support/fill-tables.js';
import { interceptingDriver, statementsOf } from '../support/intercepting-driver.js';
import { describeStoresOf, type World } from '../support/stores.js';
import { newSchedule } from '../support/schedules.js';
import { isLongSet } from '../support/servers.js';

interface Plan {
  select_type: string;
  table: string | null;
  type: string | null;
  key: string | null;
  Extra: string | null;
}

// A plan that reads a whole table or index locks rows of other workers, and waits for them.
describeStoresOf(['mysql', 'mariadb'], 'every statement that locks rows', (setup) => {
  it.each(isLongSet ? [5, 3_000] : [0, 5, 60, 3_000, 100_000])(
    'reads its own index and sorts nothing, among %i rows',
    async (size) => {
      const world = await setup();
      await fillTables(world.dataSource, size);

      const { problems, statements } = await explainEverything(world);

      expect(problems).toEqual([]);
      // Each locking statement in the source must be sent, and each one sent must be in the source.
      const known = readLockingStatements(world.store.server.name);
      expect(known.filter((expression) => !statements.some((sql) => expression.test(sql)))).toEqual([]);
      expect(statements.filter((sql) => !known.some((expression) => expression.test(sql)))).toEqual([]);
    },
  );
});

/** Moves finished jobs to an archive that already contains some of them. */
async function everyArchiving(world: World, dataSource: DataSource): Promise<void> {
  const { jobs } = await world.open({ dataSource, archives: archivedTo('sql_queue_archive') });
  for (const count of [1, 3, 40]) {
    await jobs.enqueue(Array.from({ length: count }, () => newJob({ priority: -9 })));
    const taken = await claimFrom(jobs, { limit: count });
    await jobs.complete(finalBatchOf(taken, outcomes.complete, { retentionMs: 0 }));
    // Earlier jobs with the ids of some of these.
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
  const driver = interceptingDriver(async (text, ask) => {
    for (const sql of statementsOf(text).filter(locksRows)) {
      statements.add(sql);
      for (const plan of await ask<Plan>(`EXPLAIN FORMAT = TRADITIONAL ${sql}`)) {
        const problem = problemOf(plan, sql);
        if (problem) problems.add(`${phase} it ${problem}: ${withoutValues(sql)}`);
      }
    }
  });
  const dataSource = await world.connect({ driver });
  const eventOutbox = { emitsEvents: () => true, onEventsCommitted: () => {} };
  const store = await world.open({ dataSource, eventOutbox });

  await everyVerb(store, world.advance);
  await everyStart(store);
  await everyStrategy(store);
  await everyLock(store);
  await whatCallersNeed(dataSource, store);
  await everyArchiving(world, dataSource);
  await everyMalformedJob(world, dataSource);
  await malformedSchedule(world, dataSource);
  await everyRekeying(dataSource);
  await whatFaultsNeed(dataSource);
  await world.sql(
    `ANALYZE TABLE sql_queue_jobs, sql_queue_claims, sql_queue_history, sql_queue_workers, sql_queue_commit_log,
                   sql_queue_queues, sql_queue_subscriptions, sql_queue_waits, sql_queue_progress, sql_queue_logs, sql_queue_locks,
                   sql_queue_keys, sql_queue_schedules, sql_queue_limits, sql_queue_groups, sql_queue_steps, sql_queue_signals,
                   sql_queue_flows, sql_queue_edges, sql_queue_stats, sql_queue_metrics, sql_queue_errors, sql_queue_audit,
                   sql_queue_subjects,
                   sql_queue_archive`,
  );
  phase = 'after ANALYZE';
  await everyVerb(store, world.advance);
  await everyStart(store);
  await everyLock(store);
  await whatCallersNeed(dataSource, store);
  await everyArchiving(world, dataSource);
  await everyMalformedJob(world, dataSource);
  await malformedSchedule(world, dataSource);
  await everyRekeying(dataSource);
  await whatFaultsNeed(dataSource);

  return { problems: [...problems], statements: [...statements] };
}

/** Sends the statements of a rotation of keys, for rows that do not exist. */
async function everyRekeying(dataSource: DataSource): Promise<void> {
  const pool = await MysqlPool.open(dataSource, new Templates(tableNames(), mysql), systemClock, 30_000);
  for (const { write, start, content } of CONTENT_TABLES) {
    const columns = Object.keys(content).flatMap((column) => [column, `${column}Start`]);
    const values = { ...start, ...Object.fromEntries(columns.map((column) => [column, 'x'])) };
    await pool.transaction(() => execute(write, values));
  }
  await pool.close();
}

/** Sends statements in transactions of the application. */
async function whatCallersNeed(dataSource: DataSource, store: OpenStore): Promise<void> {
  const { jobs } = store;
  for (const count of [1, 3, 40]) {
    const given = Array.from({ length: count }, (_, n) =>
      keyedJob({ key: `caller ${count}.${n}`, onConflict: 'replace' }),
    );
    for (let times = 0; times < 2; times++)
      await dataSource.transaction((tx) => jobs.enqueueKeyedInTransaction(given, tx));
    await replaceOwnChanges(dataSource, store, count);
    await retryOwnChanges(dataSource, store, count);
  }
}

/** Replaces key owners that the transaction has ended, and that are newer than its snapshot. */
async function replaceOwnChanges(dataSource: DataSource, { jobs, admin }: OpenStore, count: number): Promise<void> {
  const given = Array.from({ length: count }, () => keyedJob({ key: randomUUID(), onConflict: 'replace' }));
  await dataSource.transaction('REPEATABLE READ', async (transaction) => {
    await transaction.query('SELECT COUNT(*) FROM sql_queue_keys');
    const [owners] = (await jobs.enqueueKeyed([given])) as readonly (readonly KeyedJobResult[])[];
    const ids = owners!.map(({ id }) => id);
    await admin.cancelIdle(ids, () => 60_000, { transaction });
    await jobs.enqueueKeyedInTransaction(given, transaction);
  });
}

/** Retries a job, and then those after it, in the transaction that has cancelled the latter. */
async function retryOwnChanges(dataSource: DataSource, store: OpenStore, count: number): Promise<void> {
  const { jobs, flows, admin } = store;
  const [queue, keep] = ['retried', () => 60_000];
  const edges = Array.from({ length: count }, (_, n) => ({ job: n + 1, needs: 0, onFailure: 'cancel' }) as const);
  const flow = await flows.create({
    jobs: [newJob({ queue }), ...edges.map(() => newJob({ queue, isBlocked: true }))],
    edges,
  });
  const [first, ...others] = flow.jobIds;
  await jobs.complete(finalBatchOf(await claimFrom(jobs, { queue, limit: 1 })));
  await flows.settle([first!], keep);
  const replay = { to: undefined, firstMs: 0, intervalMs: 0, completed: true };
  await dataSource.transaction(async (transaction) => {
    await admin.cancelIdle(others, keep, { transaction });
    await admin.replay([first!], replay, { transaction });
    await admin.replay(others, replay, { transaction });
    await admin.cancelIdle([first!, ...others], keep, { transaction });
    await admin.remove([first!, ...others], { transaction });
  });
}

/** Wakes jobs by a signal, lets jobs with steps, children and blobs start anew, and changes jobs by a filter. */
async function everyStart({ jobs, steps, flows, admin }: OpenStore): Promise<void> {
  const queue = 'anew';
  const ofSubject = { queue, subject: 's', overrides: '{"subject":"s"}', payload: blob() };
  for (const count of [1, 40]) {
    await jobs.enqueue(Array.from({ length: count }, () => newJob(ofSubject)));
    const held = await claimFrom(jobs, { queue, limit: count });
    const hash = signalHash('go', `${count}`);
    for (const job of held.jobs) {
      const owner = { jobId: job.id, claimId: held.id };
      await flows.fanOut(owner, 'fan-out', [newJob({ queue: 'child' })], 'run');
      const wait = await steps.waitForSignal(owner, 'go', { key: `${count}`, hash }, 60_000);
      const untilMs = (wait as { untilMs: number }).untilMs;
      const outcome = { kind: 'snooze', delayMs: 60_000, untilMs, signal: hash } as const;
      const completions = [completionOf(held, job, outcome)];
      await jobs.complete({ ...finalBatchOf(held), completions, claims: [] });
    }
    await steps.signal({ name: 'go', key: `${count}`, hash, data: '1' });
    await steps.wakeWaiting(hash);
    const woken = await claimFrom(jobs, { queue, limit: count });
    for (const { id: jobId } of woken.jobs)
      await steps.waitForSignal({ jobId, claimId: woken.id }, 'go', { key: `${count}`, hash }, 60_000);
    await jobs.complete(finalBatchOf(woken, { kind: 'retry', delayMs: 60_000, error: outcomes.dead.error }));
    for (const { id } of woken.jobs) await admin.edit(id, queue, { payload: blob(), keepsSteps: false });
    const ids = woken.jobs.map(({ id }) => id);
    await admin.promote(ids, undefined, { queue });
    await admin.remove(ids, undefined, { queue });
    const keyed = () => keyedJob({ key: `anew ${count}`, onConflict: 'replace' }, { ...ofSubject, payload: blob() });
    for (let times = 0; times < 2; times++) await jobs.enqueueKeyed([[keyed()]]);
  }
}

function blob(): string {
  return toEnvelope({ key: '$blob', content: `2030-01-01/${randomUUID()} ${'h'.repeat(43)}` });
}

const GONE_JOB = 2_000_000;

/** Creates malformed jobs, and stages without jobs, as another program could. */
async function everyMalformedJob(world: World, dataSource: DataSource): Promise<void> {
  const { jobs } = await world.open({ dataSource });
  const odd = (columns: string, values: string) =>
    world.sql(`INSERT INTO sql_queue_jobs (queue, payload, ${columns}) VALUES ('odd', '1', ${values})`);
  for (const count of [1, 3, 40]) {
    for (let n = 1; n <= count; n++) {
      await odd('state', `'odd'`);
      await odd('group_key, runnable', `'outside', 1`);
      await odd('id', `-${9_007_199_254_740_992n + BigInt(n)}`);
      // The stage of a job that the other program has deleted.
      await world.sql(
        `REPLACE INTO sql_queue_stages (job_id, queue, stage, priority) VALUES (${GONE_JOB + n}, 'odd', 's', 0)`,
      );
    }
    await jobs.claim(claimRequest({ queue: 'odd' }));
    await jobs.cleanUp(count);
  }
}

/** Runs a tick of a schedule that another program wrote badly. */
async function malformedSchedule(world: World, dataSource: DataSource): Promise<void> {
  const { schedules } = await world.open({ dataSource });
  await schedules.upsert(newSchedule({ name: 'bad' }));
  await world.sql(`UPDATE sql_queue_schedules SET missed = 'never', next_at = 0 WHERE name = 'bad'`);
  await schedules.runTicks([]);
  await schedules.remove('bad');
}

/** Sends statements for lost answers and for locks that are held for a long time. */
async function whatFaultsNeed(dataSource: DataSource): Promise<void> {
  const pool = await MysqlPool.open(dataSource, new Templates(tableNames(), mysql), systemClock, 30_000);
  for (const count of [1, 5, 100]) {
    await pool.runIdempotent(() =>
      findLocked(Array.from({ length: count }, (_, n) => ({ job: { id: n + 1 } }) as Completion)),
    );
    await pool.runIdempotent(() => findUnlockedClaims(Array.from({ length: count }, (_, n) => n + 1)));
    await pool.transaction(() => closeLane(count));
  }
  // The pool closes its commit lane when it closes.
  await pool.writeOnce([insertJobs([newJob({ queue: 'other' })])]);
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
  // The table that receives the copied rows.
  if (select_type === 'INSERT' || select_type === 'REPLACE') return undefined;
  // The planner already found no row for the key.
  if (table === null) return undefined;
  // The rows of a subquery, which the statement has read already.
  if (table.startsWith('<derived')) return undefined;
  // MySQL collects the ids of the rows that an UPDATE with an order will change, up to its limit.
  const isNoting = sql.trimStart().startsWith('UPDATE');
  if ((isNoting ? /filesort/ : /filesort|temporary/).test(Extra ?? '')) return `sorts (${Extra})`;
  // An UPDATE of jobs reads, and locks, its claim in a subquery.
  const named = new RegExp(`\\b${table} FORCE INDEX \\((\\w+)\\)`).exec(sql)?.[1];
  const hinted = named ?? /FORCE INDEX \((\w+)\)/.exec(sql)?.[1] ?? 'PRIMARY';
  const expected = table === 'sql_queue_claims' ? 'PRIMARY' : hinted;
  // A subquery in FROM locks nothing, so it may read the whole index of a tiny table.
  if (select_type === 'DERIVED' && key === expected && type === 'index') return undefined;
  if (key !== expected || type === 'ALL' || type === 'index') return `reads ${key} (${type}), not ${expected}`;
  return undefined;
}
