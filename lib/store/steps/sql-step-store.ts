import { LeaseLostError, TransactionLostError } from '../../job/errors.js';
import type { Delay } from '../../job/outcome.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import {
  statement,
  execute,
  executeAll,
  executeFinal,
  query,
  deleteFrom,
  queryIds,
  type Statement,
  type Work,
} from '../core/statement.js';
import type { ScanCursors } from '../jobs/claim/scan-cursors.js';
import { findMissedSignals, storeSignal, wakeWaiting } from './signals.js';
import type { TableRow } from '../schema/entities/table-schemas.js';
import { ascending } from '../core/safe-id.js';
import type * as port from './step-store.js';

const STEPS = `
  SELECT name, state, result, until_at
  FROM {steps}
  WHERE job_id = :jobId`;

const NOW = 'SELECT :now AS at';

// A rescue skips a locked job, so the claim keeps it until the step is stored.
const LOCK_JOB = `
  SELECT id
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :jobId AND claim_id = :claimId /*! FOR UPDATE */`;

const STEP = `
  SELECT name, state, result, until_at, :now AS at
  FROM {steps} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id = :jobId AND name = :name /*! FOR UPDATE */`;

const ADD_STEP = `
  INSERT INTO {steps} (job_id, name, state, result, until_at, signal_hash, expires_at)
  VALUES (:jobId, :name, :state, :result, COALESCE(:untilMs, :now + :delayMs), :hash, :now + 3600000)`;

const END_STEP = `
  UPDATE {steps} /*! FORCE INDEX (PRIMARY) */
  SET state = 'done', result = :result, signal_hash = NULL
  WHERE job_id = :jobId AND name = :name`;

const SIGNAL = `
  SELECT data
  FROM {signals}
  WHERE hash = :hash`;

const SIGNAL_RETENTION_MS = 30 * 86_400_000;
const CHECK_INTERVAL_MS = 3_600_000;

// Skips any number of locked rows, so that they do not delay the others. Reads the state because MySQL may read, and lock,
// a whole index that contains all columns of a query.
const EXPIRED = `
  SELECT job_id, state
  FROM {steps} /*! FORCE INDEX ({steps}_expiry) */
  WHERE expires_at <= :now
  ORDER BY expires_at
  LIMIT :limit /*! FOR UPDATE SKIP LOCKED */`;

// A finished job may be retried, and then goes on with its steps. One statement, so that a job that moves to the history
// is found in one of the two tables.
const REMAINING_JOBS = `
  SELECT id
  FROM {history}
  WHERE id IN (:ids)
  UNION ALL
  SELECT id
  FROM {jobs}
  WHERE id IN (:ids)`;

// The conditions that are always true keep both servers from scanning a small table.
const POSTPONE_CHECK = `
  UPDATE {steps} /*! FORCE INDEX (PRIMARY) */
  SET expires_at = :now + ${CHECK_INTERVAL_MS}
  WHERE job_id = :id AND name > ''`;

const DELETE_STEPS = deleteFrom('steps', "job_id = :id AND name > '' AND expires_at > 0");

const OLD_SIGNALS = `
  SELECT hash
  FROM {signals} /*! FORCE INDEX ({signals}_sent) */
  WHERE sent_at <= :now - ${SIGNAL_RETENTION_MS}
  ORDER BY sent_at
  LIMIT :limit`;

const DELETE_SIGNAL = deleteFrom('signals', `hash = :hash AND sent_at <= :now - ${SIGNAL_RETENTION_MS}`);

type StepRow = Pick<TableRow<'steps'>, 'name' | 'state' | 'result' | 'until_at'>;
type CurrentStepRow = StepRow & { readonly at: number };

const ENDED = { state: 'done', hash: null } as const;

/** @param blocking for verbs that lock a job, which a caller's transaction may have locked */
export function sqlStepStore(
  database: SqlDatabase,
  blocking: SqlDatabase,
  dialect: Dialect,
  scanCursors: ScanCursors,
): port.StepStore {
  /** @param work receives the stored step */
  const asOwner = <T>(
    { jobId, claimId }: port.StepOwner,
    name: string,
    work: (stored: CurrentStepRow | undefined) => Work<T>,
  ): Promise<T | undefined> =>
    blocking.transaction(function* () {
      const [job, step] = yield* executeAll([
        statement(LOCK_JOB, { jobId, claimId }),
        statement(STEP, { jobId, name }),
      ]);
      return job!.rows.length > 0 ? yield* work(step!.rows[0] as CurrentStepRow | undefined) : undefined;
    });

  async function wake(hash: string): Promise<port.WokenJob[]> {
    const woken = await blocking.transaction(() => wakeWaiting(hash));
    if (woken.length > 0) scanCursors.reset();
    return woken;
  }

  return {
    async readSteps(jobId) {
      const [now, steps] = await database.runIdempotent(() =>
        executeAll([statement(NOW), statement(STEPS, { jobId })]),
      );
      const rows = steps!.rows as unknown as readonly StepRow[];
      return { byName: new Map(rows.map((row) => [row.name, toStoredStep(row)])), nowMs: Number(now!.rows[0]!['at']) };
    },

    writeStep: (owner, name, result) =>
      asOwner(owner, name, function* (stored) {
        // After a lost answer the step may be stored already. No other claim could have stored it.
        if (!stored) yield* executeFinal([addStep(owner.jobId, name, { ...ENDED, result })]);
        return true as const;
      }),

    transactStep: ({ jobId, claimId, queue }, name, work) =>
      blocking.inApplicationTransaction(async (manager, isStillOpen) => {
        const { value, result } = await work(manager);
        if (!(await isStillOpen())) throw new TransactionLostError(jobId, queue);
        await blocking.inCallerTransaction(manager, function* () {
          const [job] = yield* query(LOCK_JOB, { jobId, claimId });
          if (!job) throw new LeaseLostError(jobId, queue);
          yield* executeAll([addStep(jobId, name, { ...ENDED, result })]);
        });
        return value;
      }),

    startSleep: (owner, name, until) =>
      asOwner(owner, name, (stored) =>
        storeWait(owner.jobId, name, stored, { ...until, state: 'sleeping', hash: null }),
      ),

    waitForSignal: (owner, name, hash, delayMs) =>
      asOwner(owner, name, function* (stored): Work<port.SignalWait> {
        const { jobId } = owner;
        const wait = yield* storeWait(jobId, name, stored, { delayMs, state: 'waiting', hash });
        const [signal] = yield* query<{ data: string | null }>(SIGNAL, { hash });
        if (!signal && wait.nowMs < wait.untilMs) return { state: 'waiting', ...wait };
        // The JSON of a signal stands in a list, so that a signal without data differs from none.
        const result = signal ? `[${signal.data ?? ''}]` : null;
        yield* execute(END_STEP, { jobId, name, result });
        return signal ? { state: 'signalled', data: signal.data } : { state: 'timed-out' };
      }),

    signal(signal, transaction) {
      const store = () => storeSignal(dialect, signal);
      return transaction ? blocking.inCallerTransaction(transaction, store) : blocking.transaction(store);
    },

    wakeWaiting: wake,

    async wakeMissed() {
      const woken: port.WokenJob[] = [];
      for (const hash of await database.runIdempotent(findMissedSignals)) woken.push(...(await wake(hash)));
      return woken;
    },

    // Reads first, because most calls find nothing and need no transaction.
    async pruneSteps(limit) {
      const signals = await database.runIdempotent(() => pruneSignals(limit));
      if (!(await database.runIdempotent(hasExpiredSteps))) return signals;
      return Math.max(signals, await database.transaction(() => pruneSteps(limit)));
    },
  };
}

/** Values of a step that is stored for the first time. */
interface NewStep extends Partial<Delay> {
  readonly state: port.StoredStep['state'];
  readonly result?: string | null;
  readonly hash: string | null;
}

function addStep(jobId: number, name: string, step: NewStep): Statement {
  const { state, result = null, hash, untilMs = null, delayMs = null } = step;
  return statement(ADD_STEP, { jobId, name, state, result, hash, untilMs, delayMs });
}

/** The time of a stored wait stays. */
function* storeWait(
  jobId: number,
  name: string,
  stored: CurrentStepRow | undefined,
  wait: NewStep,
): Work<port.StepWait> {
  let row = stored;
  if (!row) {
    const [, read] = yield* executeAll([addStep(jobId, name, wait), statement(STEP, { jobId, name })]);
    row = read!.rows[0] as unknown as CurrentStepRow;
  }
  return { untilMs: Number(row.until_at), nowMs: Number(row.at) };
}

function toStoredStep({ state, result, until_at }: StepRow): port.StoredStep {
  return { state, result, untilMs: until_at === null ? null : Number(until_at) };
}

/** The lock ends with the statement. */
function* hasExpiredSteps(): Work<boolean> {
  return (yield* query(EXPIRED, { limit: 1 })).length > 0;
}

function* pruneSteps(limit: number): Work<number> {
  const rows = yield* query<{ job_id: number }>(EXPIRED, { limit });
  if (rows.length === 0) return 0;
  const ids = ascending(rows.map(({ job_id }) => Number(job_id)));
  const remaining = new Set(yield* queryIds(REMAINING_JOBS, { ids }));
  for (const id of ids) yield* execute(remaining.has(id) ? POSTPONE_CHECK : DELETE_STEPS, { id });
  return rows.length;
}

function* pruneSignals(limit: number): Work<number> {
  const old = yield* query<{ hash: string }>(OLD_SIGNALS, { limit });
  for (const { hash } of old) yield* execute(DELETE_SIGNAL, { hash });
  return old.length;
}

export function* deleteSteps(jobIds: readonly number[]): Work<void> {
  for (const id of ascending(jobIds)) yield* execute(DELETE_STEPS, { id });
}
