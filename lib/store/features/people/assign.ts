import { MalformedJobError } from '../../../job/errors.js';
import type { ClaimedJob } from '../../../job/job.js';
import { readHeaders, readJson } from '../../../job/json.js';
import type { Assignee, Assignment, AssignRules, ExpectedHolder, ClaimSplit } from './consumer-store.js';
import { jobEventsOf } from '../../core/event-outbox.js';
import { toJobBeforeClaim, NEXT_ATTEMPT } from '../../rows/claimed-row.js';
import { randomId } from '../../../job/identifiers.js';
import { lockAssignment, lockJob, locateLiveJob } from './lock-assignment.js';
import { deleteClaim } from '../../rows/lease.js';
import { FenceError } from '../../ends/end-jobs.js';
import { stageOf } from '../../ends/stages.js';
import { RUNNABLE_WHEN_WAITING } from '../../tables/runnable.js';
import { recordEvents, query, executeAll, type SqlValue, type Statement, type Work } from '../../core/statement.js';
import { lockCancelRequests } from '../../rows/cancel-requests.js';

// The stored end of a lease that does not expire.
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

const INSERT_CLAIMS = `
  INSERT INTO {claims} (id, worker_id, queue, job_ids, start_limit, lease_ms, lease_until, claimed_at, owner, dead_letter)
  VALUES :rows(?, ?, ?, ?, 1, ?, COALESCE(?, :now + ?), :now, ?, ?)`;

const TRANSFER_JOB = `
  UPDATE {jobs} {by primary}
  SET claim_id = :to
  WHERE id = :id AND claim_id = :from`;

// Clears run_at of a scheduled job too, because assigning it starts it now.
const MARK_ACTIVE = `
  UPDATE {jobs} {by primary}
  SET due_at = CASE WHEN run_at IS NULL THEN due_at ELSE :now END,
      state = 'active', claim_id = :to, attempt = ${NEXT_ATTEMPT}, run_at = NULL, runnable = ${RUNNABLE_WHEN_WAITING},
      max_attempts = COALESCE(NULLIF(max_attempts, 0), :maxAttempts)
  WHERE id = :id AND claim_id = 0`;

const SELECT_LEASE_ENDS = `
  SELECT id, lease_until
  FROM {claims}
  WHERE id IN (:ids)`;

const REMOVE_LEASE_END = `
  UPDATE {claims} {by primary}
  SET lease_until = ${NEVER_MS}, snoozed_until = NULL
  WHERE id = :claimId`;

/** A job, and the id of its new claim. */
export interface JobToAssign {
  readonly job: ClaimedJob;
  readonly to: number;
}

/** A transfer of all these jobs from one claim to a claim of its own each. */
export interface ClaimTransfer extends Assignee {
  readonly from: number;
  readonly jobs: readonly JobToAssign[];
}

/** Null if the lease does not expire. */
export function leaseEndMs(leaseUntil: number): number | null {
  return Number(leaseUntil) >= NEVER_MS ? null : Number(leaseUntil);
}

/** Throws FenceError if the claim has lost one of the jobs. The claim may keep other jobs. */
export function* transferJobs({ from, jobs, ...assignee }: ClaimTransfer): Work<void> {
  const moves = jobs.map(({ job: { id }, to }) => ({ sql: TRANSFER_JOB, values: { id, from, to } }));
  yield* expectOneRowEach([insertClaims(jobs, assignee)], moves);
}

export function* splitClaim({ claimId: from, jobs, ...assignee }: ClaimSplit): Work<Assignment[]> {
  const cancelRequested = yield* lockCancelRequests(from);
  const split = jobs.filter(({ id }) => !cancelRequested.has(id)).map((job) => ({ job, to: randomId() }));
  // Jobs with a cancellation request stay in the claim. The rescue after its expiry cancels them.
  if (cancelRequested.size === 0) yield* deleteClaim(from);
  if (split.length === 0) return [];
  yield* transferJobs({ ...assignee, from, jobs: split });
  return toAssignments(split, assignee.owner, yield* readLeaseEnds(split), null, true);
}

/** The transaction must have locked the jobs, and no claim may have them. */
export function* assignIdleJobs(
  jobs: readonly JobToAssign[],
  assignee: Assignee,
  maxAttempts: number,
  stage: string | null,
): Work<Assignment[]> {
  yield* recordEvents(
    jobEventsOf(
      'claimed',
      jobs.map(({ job }) => job),
      assignee.owner,
    ),
  );
  const marks = jobs.map(({ job: { id }, to }) => ({ sql: MARK_ACTIVE, values: { id, to, maxAttempts } }));
  yield* expectOneRowEach([insertClaims(jobs, assignee)], marks);
  return toAssignments(jobs, assignee.owner, yield* readLeaseEnds(jobs), stage, true);
}

export function* assign(
  id: number,
  assignee: Assignee,
  from: ExpectedHolder,
  rules: (queue: string) => AssignRules,
): Work<Assignment> {
  const to = randomId();
  const { claimId } = yield* locateLiveJob(id);
  if (claimId === 0) {
    const row = yield* lockJob(id, 0);
    // Another claim was faster.
    if (!row) return yield* assign(id, assignee, from, rules);
    const { maxAttempts, deadLetter } = rules(row.queue);
    const job = toJobBeforeClaim(row, row.queue, maxAttempts);
    return (yield* assignIdleJobs([{ job, to }], { ...assignee, deadLetter }, maxAttempts, yield* stageOf(id)))[0]!;
  }
  const locked = yield* lockAssignment(id, from);
  const stage = yield* stageOf(id);
  const own = { job: locked.job, to: locked.claimId };
  if (locked.owner === assignee.owner) {
    yield* executeAll([{ sql: REMOVE_LEASE_END, values: { claimId: locked.claimId } }]);
    return toAssignments([own], assignee.owner, new Map([[own.to, null]]), stage, false)[0]!;
  }
  const transferred = [{ job: locked.job, to }];
  yield* deleteClaim(locked.claimId);
  yield* transferJobs({ ...assignee, deadLetter: locked.deadLetter, from: locked.claimId, jobs: transferred });
  return toAssignments(transferred, assignee.owner, yield* readLeaseEnds(transferred), stage, false)[0]!;
}

function insertClaims(jobs: readonly JobToAssign[], { workerId, owner, leaseMs, deadLetter }: Assignee): Statement {
  const until = leaseMs === null ? NEVER_MS : null;
  const inOrder = [...jobs].sort((a, b) => a.to - b.to);
  const rows = inOrder.map(({ job, to }): SqlValue[] => [
    to,
    workerId,
    job.queue,
    JSON.stringify([job.id]),
    leaseMs ?? 0,
    until,
    leaseMs ?? 0,
    owner,
    deadLetter || null,
  ]);
  return { sql: INSERT_CLAIMS, values: { rows } };
}

function* expectOneRowEach(before: readonly Statement[], moves: readonly Statement[]): Work<void> {
  const inOrder = [...moves].sort((a, b) => Number(a.values['id']) - Number(b.values['id']));
  const results = yield* executeAll([...before, ...inOrder]);
  if (results.slice(before.length).some(({ affectedRows }) => affectedRows !== 1)) throw new FenceError();
}

function* readLeaseEnds(jobs: readonly JobToAssign[]): Work<Map<number, number | null>> {
  const rows = yield* query<{ id: number; lease_until: number }>(SELECT_LEASE_ENDS, { ids: jobs.map(({ to }) => to) });
  return new Map(rows.map(({ id, lease_until }) => [Number(id), leaseEndMs(lease_until)]));
}

function toAssignments(
  jobs: readonly JobToAssign[],
  owner: string,
  leaseEnds: ReadonlyMap<number, number | null>,
  stage: string | null,
  isFresh: boolean,
): Assignment[] {
  return jobs.map(({ job, to }) => ({
    ...contentOf(job),
    claimId: to,
    owner,
    stage,
    isFresh,
    leaseUntilMs: leaseEnds.get(to) ?? null,
  }));
}

/** Decodes the payload and the headers, which a claim does not check. The job has `malformed` if they are invalid. */
function contentOf(job: ClaimedJob): Pick<Assignment, 'job' | 'payload' | 'headers'> {
  const payload = readJson(job.payload);
  if ('problem' in payload) return malformed(job, 'payload', payload.problem);
  const headers = readHeaders(job.headers);
  if ('problem' in headers) return malformed(job, 'headers', headers.problem);
  return { job, payload: payload.value, headers: headers.headers };
}

function malformed(job: ClaimedJob, column: string, problem: string): ReturnType<typeof contentOf> {
  const error = job.malformed ?? new MalformedJobError(job.id, job.queue, column, problem);
  return { job: { ...job, malformed: error }, payload: null, headers: {} };
}
