import {
  isHolderLost,
  type ClaimFacts,
  type GroupFacts,
  type JobFacts,
  type OrderOf,
  type Surroundings,
  type WorkersFacts,
} from '../../job/explain/job-facts.js';
import type { JobCountUpTo } from '../../job/explain/job-reason.js';
import type { JobState } from '../../job/job-state.js';
import { readDate, readErrors, readIds, readOverrides } from '../../job/read-columns.js';
import { executeAll, statement, type Statement, type StatementResult, type Work } from '../core/statement.js';
import { groupColumns, groupOverridesOf, type GroupRow } from '../features/groups/group-row.js';
import { findActiveJobs } from '../features/groups/active-jobs.js';
import { leaseEndMs } from '../features/people/assign.js';
import { LIMIT_COLUMNS, limitsOf, type LimitsRow } from '../features/limits/limits-row.js';
import { columnProblem } from '../rows/claimed-row.js';
import { LIVE_STATE } from '../rows/job-record.js';
import { ARRIVING, IN_GROUP, IN_QUEUE, IN_STAGE, RETURNED } from '../tables/runnable.js';
import type { TableRow } from '../tables/table-schemas.js';
import { readService } from '../features/queues/read-service.js';
import { settingsOf } from '../features/queues/settings-row.js';
import { readActiveIds, readHolders, readNeededJobs } from './read-more-facts.js';
import { readPause } from './read-pauses.js';

// The start of the payload shows whether it is a text. The rest may be long, and is nobody's business here.
const JOB = `
  SELECT j.id, j.queue, j.name, ${LIVE_STATE} AS state, j.runnable, j.run_at, j.priority, j.attempt, j.max_attempts,
         j.claim_id, j.created_at, SUBSTR(j.payload, 1, 1) AS payload, SUBSTR(j.headers, 1, 1) AS headers, j.options, j.error,
         j.group_key, :now AS at
  FROM {jobs} j {by primary}
  WHERE j.id = :id`;

const FINISHED = `
  SELECT id, queue, name, state, attempt, finished_at, :now AS at
  FROM {history} {by primary}
  WHERE id = :id`;

const CLAIM = `
  SELECT c.worker_id, c.owner, c.claimed_at, c.lease_until, c.lock_id, c.start_limit, c.job_ids, c.cancel_requests,
         c.snoozed_until, w.host, w.pid, w.seen_at
  FROM {claims} c {by primary} LEFT JOIN {workers} w ON w.id = c.worker_id
  WHERE c.id = :claimId`;

const QUEUE = `
  SELECT paused, settings
  FROM {queues}
  WHERE queue = :queue`;

const LIMITS = `
  SELECT ${LIMIT_COLUMNS}
  FROM {limits}
  WHERE queue = :queue`;

const WORKERS = `
  SELECT COALESCE(SUM(CASE WHEN INSTR(queues, :quoted) > 0 THEN 1 ELSE 0 END), 0) AS serving,
         COALESCE(SUM(CASE WHEN INSTR(excluded, :quoted) > 0 THEN 1 ELSE 0 END), 0) AS excluding
  FROM {workers}
  WHERE seen_at > :now - 60000`;

const GROUP = `
  SELECT ${groupColumns()}
  FROM {groups} {by primary}
  WHERE queue = :queue AND group_key = :group`;

// A job in a backoff, or in a later wait, has another time than the end of this one.
const STEP = `
  SELECT name, state, signal_key
  FROM {steps} {by primary}
  WHERE job_id = :id AND state IN ('sleeping', 'waiting') AND until_at = :runAt
  LIMIT 1`;

const STAGE = `
  SELECT stage
  FROM {stages}
  WHERE job_id = :id`;

const COUNT_LIMIT = 200;

/**
 * The jobs of a range of index queue that come before the job, the nearest first: claimed jobs stay in the index, and most of
 * them are at its start. Without an order, MySQL fills a buffer with ids before it reads the first row (multi-range read).
 */
const aheadIn = (runnable: number, condition: string, name: string) => `
  SELECT COUNT(*) AS entries, COALESCE(SUM(is_waiting), 0) AS waiting
  FROM (
    SELECT CASE WHEN state = 'waiting' THEN 1 ELSE 0 END AS is_waiting
    FROM {jobs} {by jobs.queue}
    WHERE queue = :queue AND runnable = ${runnable} AND run_at IS NULL AND group_key = :group AND ${condition}
    ORDER BY priority DESC, id DESC
    LIMIT ${COUNT_LIMIT}
  ) AS ${name}`;

// An OR of both conditions would read the whole queue on SQLite.
const ahead = (ranges: readonly number[]) =>
  ranges
    .flatMap((runnable) => [
      aheadIn(runnable, 'priority < :priority', `urgent_${runnable}`),
      aheadIn(runnable, 'priority = :priority AND id < :id', `earlier_${runnable}`),
    ])
    .join(' UNION ALL ');

// Newer jobs come first, so claimed ones may stand anywhere between waiting ones. This passes all of them, as the claim does.
const AHEAD_IN_LIFO_QUEUE = [
  aheadIn(IN_QUEUE, `priority < :priority AND state = 'waiting'`, 'urgent'),
  aheadIn(IN_QUEUE, `priority = :priority AND id > :id AND state = 'waiting'`, 'newer'),
].join(' UNION ALL ');

const AHEAD_IN_QUEUE = { fifo: ahead([IN_QUEUE]), lifo: AHEAD_IN_LIFO_QUEUE };
const AHEAD_IN_GROUP = ahead([IN_GROUP, ARRIVING, RETURNED]);

type JobRow = Omit<TableRow<'jobs'>, 'state' | 'due_at'> & { readonly state: JobState; readonly at: number };
type FinishedRow = Pick<TableRow<'history'>, 'id' | 'queue' | 'name' | 'state' | 'attempt' | 'finished_at'> & {
  readonly at: number;
};
type ClaimRow = Pick<
  TableRow<'claims'>,
  'worker_id' | 'owner' | 'claimed_at' | 'lease_until' | 'lock_id' | 'start_limit' | 'job_ids' | 'cancel_requests'
> &
  Pick<TableRow<'claims'>, 'snoozed_until'> & {
    readonly host: string | null;
    readonly pid: number | null;
    readonly seen_at: number | null;
  };

/** Reads without locks: in two round trips, and one to three for each cause that it finds. Null if the job is in no table. */
export function* readFacts(id: number, orderOf: OrderOf): Work<JobFacts | null> {
  const [live, finished] = yield* executeAll([statement(JOB, { id }), statement(FINISHED, { id })]);
  const ended = finished!.rows[0] as unknown as FinishedRow | undefined;
  const row = live!.rows[0] as unknown as JobRow | undefined;
  if (!row) return ended ? endedFacts(ended) : null;
  const nowMs = Number(row.at);
  const job = jobFacts(row);
  if (Number(row.claim_id) !== 0) {
    const [found, workers] = yield* executeAll([
      statement(CLAIM, { claimId: Number(row.claim_id) }),
      selectWorkers(row.queue),
    ]);
    const held = found!.rows[0] && claimFacts(found!.rows[0] as unknown as ClaimRow, id, nowMs);
    // If not, the job has just left its claim: the next call finds it elsewhere.
    if (held) {
      const claim = {
        ...held,
        workers: isHolderLost(held, nowMs) ? yield* workersFacts(row.queue, workers!) : undefined,
      };
      return { nowMs, job, claim, surroundings: undefined };
    }
  }
  return { nowMs, job, claim: undefined, surroundings: yield* readSurroundings(row, orderOf) };
}

function endedFacts(row: FinishedRow): JobFacts {
  const { id, queue, name, state, attempt, finished_at } = row;
  return {
    nowMs: Number(row.at),
    job: {
      ...{ id: Number(id), queue, name, state, attempt, group: null, hasFailedLast: false },
      ...{ runAtMs: null, expiresAtMs: null, finishedAtMs: Number(finished_at), malformed: undefined },
    },
    claim: undefined,
    surroundings: undefined,
  };
}

function jobFacts(row: JobRow): JobFacts['job'] {
  const { id, queue, name, state, attempt } = row;
  const options = readOverrides(row.options);
  const next = Number(row.claim_id) === 0 ? attempt + 1 : attempt;
  const expiresInMs = 'overrides' in options ? options.overrides?.expiresInMs : undefined;
  return {
    ...{ id: Number(id), queue, name, state, attempt, group: row.group_key || null },
    hasFailedLast: attempt > 0 && readErrors(row.error).all.at(-1)?.attempt === attempt,
    runAtMs: readDate(row.run_at),
    expiresAtMs: attempt === 0 && expiresInMs !== undefined ? Number(row.created_at) + expiresInMs : null,
    finishedAtMs: null,
    malformed: columnProblem({ ...row }, next, options),
  };
}

function claimFacts(row: ClaimRow, id: number, nowMs: number): Omit<ClaimFacts, 'workers'> {
  const { worker_id, owner, host, pid, seen_at } = row;
  const isRescued = Number(row.lease_until) <= 0;
  const leaseUntilMs = isRescued ? null : readDate(leaseEndMs(row.lease_until));
  // Such a claim also expires with its lease.
  const isBoundToLock = Number(row.lock_id) !== 0 && leaseUntilMs !== null && leaseUntilMs > nowMs;
  return {
    workerId: worker_id,
    worker: host === null ? null : { host, pid: Number(pid), seenAtMs: Number(seen_at) },
    owner,
    claimedAtMs: Number(row.claimed_at),
    leaseUntilMs: isBoundToLock ? null : leaseUntilMs,
    isRescued,
    isStarted: (readIds(row.job_ids) ?? [id]).slice(0, Number(row.start_limit)).includes(id),
    isCancelRequested: readIds(row.cancel_requests)?.includes(id) ?? false,
    snoozedUntilMs: readDate(row.snoozed_until),
  };
}

function* readSurroundings(row: JobRow, orderOf: OrderOf): Work<Surroundings> {
  const { queue, state, group_key: group, priority, runnable } = row;
  const id = Number(row.id);
  const inGroup = group !== '';
  // Turns of groups know no other order.
  const order = inGroup ? 'fifo' : orderOf(queue);
  const reads: Readonly<Record<string, Statement>> = {
    queue: statement(QUEUE, { queue }),
    limits: statement(LIMITS, { queue }),
    workers: selectWorkers(queue),
    ...(inGroup && { group: statement(GROUP, { queue, group }) }),
    ...(state === 'scheduled' && { step: statement(STEP, { id, runAt: row.run_at }) }),
    // A job of a stage that is put off returns to its stage.
    ...((runnable === IN_STAGE || state === 'scheduled') && { stage: statement(STAGE, { id }) }),
    ...(state === 'waiting' &&
      runnable !== IN_STAGE && {
        ahead: statement(inGroup ? AHEAD_IN_GROUP : AHEAD_IN_QUEUE[order], { queue, group, priority, id }),
      }),
  };
  const names = Object.keys(reads);
  const results = yield* executeAll(Object.values(reads));
  const rowsOf = <Row>(name: string) => (results[names.indexOf(name)]?.rows ?? []) as unknown as readonly Row[];
  const [settings] = rowsOf<Pick<TableRow<'queues'>, 'paused' | 'settings'>>('queue');
  const [step] = rowsOf<{ name: string; state: string; signal_key: string | null }>('step');
  const [stage] = rowsOf<{ stage: string }>('stage');
  const [limits] = rowsOf<LimitsRow>('limits');
  const [groupRow] = rowsOf<GroupRow>('group');
  const needed = state === 'blocked' ? yield* readNeededJobs(id) : { needs: [], more: false };
  return {
    workers: yield* workersFacts(queue, results[names.indexOf('workers')]!),
    pause: settings && settings.paused > 0 ? yield* readPause(queue) : undefined,
    enabled: settings && settingsOf(settings).enabled,
    limits: limits && (yield* limitFacts(queue, limits, state)),
    group: groupRow && (yield* groupFacts(queue, groupRow)),
    step: step && { name: step.name, key: step.signal_key, isWait: step.state === 'waiting' },
    needs: needed.needs,
    needsMore: needed.more,
    stage: stage?.stage ?? null,
    ahead: { ...countOf(rowsOf('ahead')), order },
  };
}

function selectWorkers(queue: string): Statement {
  return statement(WORKERS, { quoted: JSON.stringify(queue) });
}

function* workersFacts(queue: string, { rows }: StatementResult): Work<WorkersFacts> {
  const [serving, excluding] = [Number(rows[0]!['serving']), Number(rows[0]!['excluding'])];
  if (serving > 0) return { serving, excluding, servedQueues: [], isConsumed: false };
  const { unserved, served } = yield* readService([queue]);
  // A worker may have started between the two reads.
  const isServed = served.includes(queue);
  const isConsumed = !isServed && !unserved.includes(queue);
  return { serving: isServed ? 1 : 0, excluding, servedQueues: served, isConsumed };
}

function* limitFacts(queue: string, row: LimitsRow, state: JobState): Work<Surroundings['limits']> {
  const limits = limitsOf(row);
  const isCounted = limits.maxRunning !== null && state === 'waiting';
  return {
    ...limits,
    use: { untilUs: Number(row.rate_until_us), used: Number(row.rate_used) },
    restUntilMs: Number(row.rest_until),
    active: isCounted ? yield* readActiveIds(queue) : [],
  };
}

function* groupFacts(queue: string, row: GroupRow): Work<GroupFacts> {
  const group = row.group_key;
  const overrides = groupOverridesOf(row);
  // Only a group with a limit lists its active jobs.
  const listed = readIds(row.active_ids === null ? undefined : row.active_ids);
  const isLimited = row.state === 'blocked' || typeof overrides.concurrency === 'number';
  const ids = listed ?? (isLimited ? ((yield* findActiveJobs(queue, [group])).get(group) ?? []) : []);
  return {
    isBlocked: row.state === 'blocked',
    pause: row.state === 'paused' ? yield* readPause(queue, group) : undefined,
    overrides,
    use: { untilUs: Number(row.rate_until_us), used: Number(row.rate_used) },
    restUntilMs: Number(row.rest_until),
    holders: yield* readHolders(queue, group, ids),
  };
}

function countOf(rows: readonly { entries: number; waiting: number }[]): JobCountUpTo {
  const jobs = rows.reduce((sum, { waiting }) => sum + Number(waiting), 0);
  return { jobs: Math.min(jobs, COUNT_LIMIT), atLeast: rows.some(({ entries }) => Number(entries) >= COUNT_LIMIT) };
}
