import type { ClaimProgress, Flush, Settlement } from '../job-store.js';
import { rowChunks } from './row-chunks.js';
import {
  change,
  Ids,
  query,
  Rows,
  together,
  type SqlValue,
  type Statement,
  type Values,
  type Work,
} from './statement.js';

// The comments of the form /*! … */ are read by MySQL and MariaDB and passed over by SQLite. Both servers scan a small
// table rather than read its key, and whoever scans waits for rows that are none of his business: so each statement that
// locks rows by id names the primary key. A DELETE takes an index only in its form for several tables, which names the
// table twice.

const RAISE_STARTED = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET started = :started
  WHERE id = :id`;

const END_CLAIMS = `
  DELETE /*! {claims} */ FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)`;

const TAKE_FINISHED = `
  DELETE /*! {jobs} */ FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId`;

const STILL_OURS = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId
  ORDER BY id /*! FOR UPDATE */`;

const STILL_THERE = `
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

const FINISHED_BY = `
  SELECT id, worker_id, attempt
  FROM {history}
  WHERE id IN (:ids)`;

const SCHEDULE = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'scheduled', runnable = 0, run_at = :now + :delayMs, claim_id = 0,
      attempt = attempt - :refund, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

const PUT_BACK = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET state = 'waiting', claim_id = 0, attempt = attempt - :refund, error = COALESCE(:error, error)
  WHERE :ids AND claim_id = :claimId`;

const KEEP = `
  INSERT INTO {history} (id, queue, name, state, priority, attempt, max_attempts, worker_id,
                         created_at, started_at, finished_at, expires_at, payload, headers, options, result, error)
  VALUES :rows`;

// started_at is NULL where the run did not begin: now minus NULL is NULL.
const KEPT = `(?, ?, ?, ?, ?, ?, ?, ?, ?, :now - ?, :now, :now + ?, ?, ?, ?, ?, ?)`;

// The payloads of jobs that ended alike need not travel back to the database they came from.
const THERE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids`;

const THERE_AND_FREE = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids /*! FOR UPDATE SKIP LOCKED */`;

const KEEP_ALIKE = `
  INSERT INTO {history} (id, queue, name, state, priority, attempt, max_attempts, worker_id,
                         created_at, started_at, finished_at, expires_at, payload, headers, options, result, error)
  SELECT id, queue, name, 'completed', priority, attempt, max_attempts, :workerId,
         created_at, :now - :ranMs, :now, :now + :keepMs, payload, headers, options, NULL, error
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids AND claim_id = :claimId`;

// Fewer are written with the others, if there are any: a statement more costs more than it saves.
const FEWEST_ALIKE = 8;

/** A fenced statement changed fewer jobs than it named: some are not ours any more, and nothing of the flush may stay. */
export class ShortCountError extends Error {}

/** Writes the outcomes of one flush. Locks claims, then jobs, then history, as everywhere. */
export function* settleAtOnce(flush: Flush): Work<ReadonlySet<Settlement>> {
  yield* settle(flush.settlements, progress(flush.claims));
  return new Set();
}

/**
 * The same after a ShortCountError: finds the survivors, settles those and answers the others. One job can be in a flush
 * twice, under a claim that is lost and under one that holds.
 */
export function* settleSurvivors(flush: Flush): Work<ReadonlySet<Settlement>> {
  yield* together(progress(flush.claims));
  const missing = new Set<Settlement>();
  for (const [claimId, settlements] of byClaim(flush.settlements)) {
    for (const settlement of yield* findMissing(claimId, settlements)) missing.add(settlement);
  }
  yield* settleClaimed(flush.settlements.filter((settlement) => !missing.has(settlement)));
  // Had the commit of before been done, none would have survived it.
  const mayBeDone = flush.again && missing.size === flush.settlements.length;
  return mayBeDone ? yield* trulyLost(missing) : missing;
}

/** Those whose jobs another transaction has locked. What is locked here is free again with the next statement. */
export function* lockedOut(settlements: readonly Settlement[]): Work<Set<Settlement>> {
  if (settlements.length === 0) return new Set();
  const ids = new Ids(settlements.map(idOf));
  const there = new Set((yield* query<{ id: number }>(THERE, { ids })).map(({ id }) => Number(id)));
  for (const { id } of yield* query<{ id: number }>(THERE_AND_FREE, { ids })) there.delete(Number(id));
  return new Set(settlements.filter(({ job }) => there.has(job.id)));
}

/** Outcomes of jobs whose claims are accounted for elsewhere. */
export function settleClaimed(settlements: readonly Settlement[]): Work<void> {
  return settle(settlements, []);
}

function* settle(settlements: readonly Settlement[], before: readonly Statement[]): Work<void> {
  const kept: Settlement[] = [];
  const fenced: Fenced[] = [];
  for (const [claimId, ofClaim] of byClaim(settlements)) {
    const finished = ofClaim.filter(({ outcome }) => isFinished(outcome.kind));
    for (const group of alike(finished)) {
      const isWorthIt = group.length >= FEWEST_ALIKE || group.length === finished.length;
      if (isWorthIt && isPlain(group[0]!))
        fenced.push(fence(KEEP_ALIKE, claimId, group.map(idOf), alikeValues(group[0]!)));
      else kept.push(...group);
    }
    if (finished.length > 0) fenced.push(fence(TAKE_FINISHED, claimId, finished.map(idOf)));
    for (const { statement, ids, values } of returns(ofClaim)) fenced.push(fence(statement, claimId, ids, values));
  }
  const answers = yield* together([...before, ...fenced.map(({ statement }) => statement)]);
  const isShort = fenced.some(({ jobs }, index) => answers[before.length + index]!.changed !== jobs);
  if (isShort) throw new ShortCountError();
  // What is not ours any more may be in the history already.
  yield* keepFinished(kept);
}

/** Writes the history of jobs that have just been taken from the table. */
export function* keepFinished(settlements: readonly Settlement[]): Work<void> {
  const inOrder = [...settlements].sort((a, b) => a.job.id - b.job.id);
  for (const rows of rowChunks(inOrder.map(historyRow))) yield* change(KEEP, { rows: new Rows(KEPT, rows) });
}

interface Fenced {
  readonly statement: Statement;
  /** So many it has to change. */
  readonly jobs: number;
}

function fence(sql: string, claimId: number, ids: readonly number[], values: Values = {}): Fenced {
  return { statement: { sql, values: { ...values, claimId, ids: new Ids(ids) } }, jobs: ids.length };
}

/** Those of the claim's jobs that are not ours any more. Locks the others. */
function* findMissing(claimId: number, settlements: readonly Settlement[]): Work<Settlement[]> {
  const ids = new Ids(settlements.map(idOf));
  const ours = new Set((yield* query<{ id: number }>(STILL_OURS, { ids, claimId })).map(({ id }) => Number(id)));
  return settlements.filter(({ job }) => !ours.has(job.id));
}

/**
 * After a commit whose answer was lost: which of the missing jobs are truly lost, and which this flush had settled
 * already. A finished job is gone from the table, and where a history is kept it says whose run it was: another worker may
 * have finished the job meanwhile. A returned one has left our claim either way.
 */
function* trulyLost(missing: ReadonlySet<Settlement>): Work<ReadonlySet<Settlement>> {
  if (missing.size === 0) return missing;
  const ids = Array.from(missing, ({ job }) => job.id);
  const rows = yield* query<{ id: number }>(STILL_THERE, { ids });
  const there = new Set(rows.map(({ id }) => Number(id)));
  const runs = yield* query<{ id: number; worker_id: string | null; attempt: number }>(FINISHED_BY, { ids });
  const finished = new Map(runs.map((run) => [Number(run.id), run]));
  const isOthers = ({ job, workerId }: Settlement) => {
    const run = finished.get(job.id);
    return run !== undefined && (run.worker_id !== workerId || Number(run.attempt) !== job.attempt);
  };
  const isLost = (one: Settlement) => isFinished(one.outcome.kind) && (there.has(one.job.id) || isOthers(one));
  return new Set([...missing].filter(isLost));
}

/** In the order of ids, whether they end or go on: a heartbeat locks the same claims in that order. */
function progress(claims: readonly ClaimProgress[]): Statement[] {
  const statements: Statement[] = [];
  let ended: number[] = [];
  const endThese = () => {
    if (ended.length > 0) statements.push({ sql: END_CLAIMS, values: { ids: ended } });
    ended = [];
  };
  for (const { id, started, finished } of [...claims].sort((a, b) => a.id - b.id)) {
    if (finished) ended.push(id);
    else {
      endThese();
      statements.push({ sql: RAISE_STARTED, values: { id, started } });
    }
  }
  endThese();
  return statements;
}

function idOf({ job }: Settlement): number {
  return job.id;
}

/** Groups of jobs to keep. Where something is known of a job that its row does not say, it stands alone. */
function alike(finished: readonly Settlement[]): Iterable<readonly Settlement[]> {
  const groups = new Map<unknown, Settlement[]>();
  for (const settlement of finished) {
    const { keepMs, ranMs } = settlement;
    if (keepMs === false) continue;
    const key = isPlain(settlement) ? `${ranMs} ${keepMs}` : settlement;
    const group = groups.get(key);
    if (group) group.push(settlement);
    else groups.set(key, [settlement]);
  }
  return groups.values();
}

function isPlain({ outcome }: Settlement): boolean {
  return outcome.kind === 'complete' && outcome.result === null;
}

function alikeValues({ workerId, ranMs, keepMs }: Settlement): Values {
  return { workerId, keepMs: keepMs as number, ranMs: ranMs === null ? null : Math.round(ranMs) };
}

function isFinished(kind: Settlement['outcome']['kind']): boolean {
  return kind === 'complete' || kind === 'dead' || kind === 'cancel';
}

interface Return {
  readonly statement: string;
  readonly ids: number[];
  readonly values: { readonly refund: number; readonly error: string | null; readonly delayMs: number };
}

/** One statement for all released jobs, one for each group of others that go the same way. */
function returns(settlements: readonly Settlement[]): Return[] {
  const groups = new Map<string, Return>();
  for (const { job, outcome } of settlements) {
    const goes = wayBack(outcome);
    if (!goes) continue;
    const key = JSON.stringify(goes);
    const group = groups.get(key);
    if (group) group.ids.push(job.id);
    else groups.set(key, { statement: goes.delayMs > 0 ? SCHEDULE : PUT_BACK, ids: [job.id], values: goes });
  }
  return [...groups.values()];
}

function wayBack(outcome: Settlement['outcome']) {
  switch (outcome.kind) {
    case 'release':
      return { refund: 1, error: null, delayMs: 0 };
    case 'snooze':
      return { refund: 1, error: null, delayMs: outcome.delayMs };
    case 'retry':
      return { refund: 0, error: JSON.stringify(outcome.error), delayMs: outcome.delayMs };
    default:
      return undefined;
  }
}

function historyRow({ job, outcome, ranMs, keepMs, workerId }: Settlement): SqlValue[] {
  const overrides = job.overrides && JSON.stringify(job.overrides);
  const result = outcome.kind === 'complete' ? outcome.result : null;
  const error = outcome.kind === 'dead' ? outcome.error : job.lastError;
  const state = ({ complete: 'completed', dead: 'dead', cancel: 'cancelled' } as Record<string, string>)[outcome.kind]!;
  return [
    ...[job.id, job.queue, job.name, state, job.priority, job.attempt, job.maxAttempts, workerId, job.createdAtMs],
    ...[
      ranMs === null ? null : Math.round(ranMs),
      keepMs as number,
      job.payload,
      job.headers,
      overrides,
      result,
      error && JSON.stringify(error),
    ],
  ];
}

function byClaim(settlements: readonly Settlement[]): [claimId: number, settlements: Settlement[]][] {
  const claims = new Map<number, Settlement[]>();
  for (const settlement of settlements) {
    const ofClaim = claims.get(settlement.claimId);
    if (ofClaim) ofClaim.push(settlement);
    else claims.set(settlement.claimId, [settlement]);
  }
  // In id order, like every lock that is taken on several rows.
  return [...claims].sort(([a], [b]) => a - b);
}
