import { batchesOf, pageSize } from '../../../common/lists.js';
import { LeaseLostError, TransactionLostError } from '../../../job/errors.js';
import { inCallerTransaction } from '../../core/caller-transaction.js';
import {
  statement,
  execute,
  executeAll,
  executeFinal,
  query,
  deleteFrom,
  READ_TIME,
  type Statement,
  type Work,
} from '../../core/statement.js';
import { expiredIn } from '../../rows/expiry.js';
import type { StoreParts } from '../../rows/store-parts.js';
import type { TableRow } from '../../tables/table-schemas.js';
import { nextChecks } from '../../reads/remaining-jobs.js';
import { addStep, addWait, lockOwner, lockStep, type NewStep, type StepRow } from './owned-step.js';
import { listSteps } from './list-steps.js';
import { listWaits } from './list-waits.js';
import { listSignals, SIGNAL_RETENTION_MS } from './list-signals.js';
import {
  BEFORE_ALL_WAITS,
  queueOfWaits,
  endWaits,
  readMissedWaits,
  readWaitsFor,
  readWaitsOfJob,
  storeSignal,
  type Wait,
  type WaitPosition,
} from './signals.js';
import { runChange } from '../audit/run-change.js';
import { stepDeletions } from '../../ends/earlier-runs.js';
import { ascending } from '../../../job/identifiers.js';
import type * as port from './step-store.js';

const STEPS = `
  SELECT name, state, result, until_at
  FROM {steps}
  WHERE job_id = :jobId`;

const END_STEP = `
  UPDATE {steps} {by primary}
  SET state = 'done', result = :result, signal_hash = NULL
  WHERE job_id = :jobId AND name = :name`;

const SIGNAL = `
  SELECT data, awaited
  FROM {signals}
  WHERE hash = :hash`;

// Skips a signal that a caller's transaction sends again, because the job must not wait for its end. That signal counts
// as not awaited anyway.
const LOCK_NEW_SIGNAL = `
  SELECT hash
  FROM {signals} {by primary}
  WHERE hash = :hash AND awaited = 0 {lock free}`;

const MARK_AWAITED = `
  UPDATE {signals} {by primary}
  SET awaited = 1
  WHERE hash = :hash`;

const WAKE_PAGE_SIZE = 1_000;
// A search for missed signals reads this number of waits at a time, and as many pages.
const SEARCH_PAGE_SIZE = 5_000;
const SEARCH_PAGES = 20;

// Reads the state because MySQL may read, and lock, a whole index that contains all columns of a query.
const EXPIRED = expiredIn('steps', 'job_id, state');

// The conditions that are always true keep both servers from scanning a small table.
const POSTPONE_CHECK = `
  UPDATE {steps} {by primary}
  SET expires_at = :at
  WHERE job_id = :id AND name > ''`;

const OLD_SIGNALS = `
  SELECT hash
  FROM {signals} {by signals.sent}
  WHERE sent_at <= :now - ${SIGNAL_RETENTION_MS}
  ORDER BY sent_at
  LIMIT :limit`;

const DELETE_SIGNAL = deleteFrom('signals', `hash = :hash AND sent_at <= :now - ${SIGNAL_RETENTION_MS}`);

type SignalRow = Pick<TableRow<'signals'>, 'data' | 'awaited'>;
type StoredStepRow = Omit<StepRow, 'at'>;

const ENDED = { state: 'done', signal: null } as const;

export function sqlStepStore({ database, blocking, dialect, scanCursors }: StoreParts): port.StepStore {
  /** @param work receives the stored step */
  const asOwner = <T>(
    owner: port.StepOwner,
    name: string,
    work: (stored: StepRow | undefined) => Work<T>,
  ): Promise<T | undefined> =>
    blocking.transaction(function* () {
      const locked = yield* lockStep(owner, name);
      return locked.owner ? yield* work(locked.stored) : undefined;
    });

  /** The last wait that the previous search for missed signals has read. */
  let searched: WaitPosition = BEFORE_ALL_WAITS;

  async function end(waits: readonly Wait[]): Promise<port.WokenJob[]> {
    const woken: port.WokenJob[] = [];
    for (const batch of batchesOf(waits, WAKE_PAGE_SIZE))
      woken.push(...(await blocking.transaction(() => endWaits(batch))));
    scanCursors.moveBefore(woken);
    return woken;
  }

  async function endAll(hash: string): Promise<port.WokenJob[]> {
    const woken: port.WokenJob[] = [];
    const limit = pageSize(WAKE_PAGE_SIZE);
    for (let after: WaitPosition | undefined = BEFORE_ALL_WAITS; after;) {
      const from: WaitPosition = after;
      const waits = await blocking.runIdempotent(() => readWaitsFor(hash, from, limit));
      woken.push(...(await end(waits)));
      after = waits.length < limit ? undefined : waits.at(-1);
    }
    return woken;
  }

  return {
    async readSteps(jobId) {
      const [now, steps] = await database.runIdempotent(() =>
        executeAll([statement(READ_TIME), statement(STEPS, { jobId })]),
      );
      const rows = steps!.rows as unknown as readonly StoredStepRow[];
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
        await inCallerTransaction(blocking, manager, function* () {
          if (!(yield* lockOwner({ jobId, claimId }))) throw new LeaseLostError(jobId, queue);
          yield* executeAll([addStep(jobId, name, { ...ENDED, result })]);
        });
        return value;
      }),

    startSleep: (owner, name, until) =>
      asOwner(owner, name, (stored) =>
        storeWait(owner.jobId, name, stored, { ...until, state: 'sleeping', signal: null }),
      ),

    waitForSignal: (owner, name, { key, hash }, delayMs) =>
      asOwner(owner, name, function* (stored): Work<port.SignalWait> {
        const { jobId } = owner;
        const wait = yield* storeWait(jobId, name, stored, { delayMs, state: 'waiting', signal: { key, hash } });
        const [signal] = yield* query<SignalRow>(SIGNAL, { hash });
        if (!signal && wait.nowMs < wait.untilMs) return { state: 'waiting', ...wait };
        // The JSON of a signal stands in a list, so that a signal without data differs from none.
        const result = signal ? `[${signal.data ?? ''}]` : null;
        const end = statement(END_STEP, { jobId, name, result });
        if (signal && Number(signal.awaited) === 0) yield* endFirstWait(end, hash);
        else yield* executeAll([end]);
        return signal ? { state: 'signalled', data: signal.data } : { state: 'timed-out' };
      }),

    async signal(signal, change) {
      const store = function* (): Work<string | undefined> {
        yield* storeSignal(dialect, signal);
        return change?.audit && (yield* queueOfWaits(signal.hash));
      };
      await runChange(blocking, change, store, undefined, (queue) => (queue === undefined ? [] : [queue]));
    },

    async wakeWaiting(hash, jobId) {
      if (jobId === undefined) return endAll(hash);
      return end(await blocking.runIdempotent(() => readWaitsOfJob(hash, jobId)));
    },

    async wakeMissed() {
      const found: Wait[] = [];
      const limit = pageSize(SEARCH_PAGE_SIZE);
      for (let page = 0; page < SEARCH_PAGES; page++) {
        const { missed, last } = await database.runIdempotent(() => readMissedWaits(searched, limit));
        found.push(...missed);
        searched = last ?? BEFORE_ALL_WAITS;
        if (!last) break;
      }
      return end(found);
    },

    list: (jobId, page) => database.runIdempotent(() => listSteps(jobId, page)),

    signals: (page, unmatchedOnly) => database.runIdempotent(() => listSignals(page, unmatchedOnly)),

    waits: (page, filter) => database.runIdempotent(() => listWaits(page, filter)),

    // Reads first, because most calls find nothing and need no transaction.
    async pruneSteps(limit) {
      const signals = await database.runIdempotent(() => pruneSignals(limit));
      if (!(await database.runIdempotent(hasExpiredSteps))) return signals;
      return Math.max(signals, await database.transaction(() => pruneSteps(limit)));
    },
  };
}

/** The first job that receives a signal marks it. */
function* endFirstWait(end: Statement, hash: string): Work<void> {
  const [, locked] = yield* executeAll([end, statement(LOCK_NEW_SIGNAL, { hash })]);
  if (locked!.rows.length > 0) yield* executeAll([statement(MARK_AWAITED, { hash })]);
}

/** The time of a stored wait stays. */
function* storeWait(jobId: number, name: string, stored: StepRow | undefined, wait: NewStep): Work<port.StepWait> {
  const { until_at, at } = stored ?? (yield* addWait(jobId, name, wait));
  return { untilMs: Number(until_at), nowMs: Number(at) };
}

function toStoredStep({ state, result, until_at }: StoredStepRow): port.StoredStep {
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
  const checks = yield* nextChecks(ids);
  yield* executeAll(ascending(checks.keys()).map((id) => statement(POSTPONE_CHECK, { id, at: checks.get(id)! })));
  yield* executeAll(stepDeletions(ids.filter((id) => !checks.has(id))));
  return rows.length;
}

function* pruneSignals(limit: number): Work<number> {
  const old = yield* query<{ hash: string }>(OLD_SIGNALS, { limit });
  for (const { hash } of old) yield* execute(DELETE_SIGNAL, { hash });
  return old.length;
}
