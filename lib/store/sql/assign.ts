import type { ClaimedJob } from '../../job/job.js';
import type { Assignee, Assignment, AssignRules, Holder, Sharing } from '../consumer-store.js';
import { changesOf } from './changes.js';
import { contentOf } from '../../job/content.js';
import { claimedJob, NEXT_ATTEMPT } from './claimed-row.js';
import { randomId } from '../../job/random-id.js';
import { lockHeld, lockIdle, whereItStands } from './hold.js';
import { endClaim } from './lease.js';
import { ShortCountError } from './settle.js';
import { RUNNABLE_AGAIN, stageOf } from './stages.js';
import { note, query, Rows, together, type SqlValue, type Statement, type Work } from './statement.js';
import { lockWishes } from './wishes.js';

// Stands for a lease that ends only when somebody releases the job.
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

const ADD_CLAIMS = `
  INSERT INTO {claims} (id, worker_id, queue, job_ids, started, lease_ms, lease_until, claimed_at, owner, dead_letter)
  VALUES :rows`;

const CLAIM = `(?, ?, ?, ?, 1, ?, COALESCE(?, :now + ?), :now, ?, ?)`;

const PASS_ON = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET claim_id = :to
  WHERE id = :id AND claim_id = :from`;

// Also of a job that is scheduled: whoever assigns it wants it done now.
const MARK = `
  UPDATE {jobs} /*! FORCE INDEX (PRIMARY) */
  SET due_at = CASE WHEN run_at IS NULL THEN due_at ELSE :now END,
      state = 'active', claim_id = :to, attempt = ${NEXT_ATTEMPT}, run_at = NULL, runnable = ${RUNNABLE_AGAIN},
      max_attempts = COALESCE(NULLIF(max_attempts, 0), :maxAttempts)
  WHERE id = :id AND claim_id = 0`;

const LEASES = `
  SELECT id, lease_until
  FROM {claims}
  WHERE id IN (:ids)`;

const KEEP_FOR_GOOD = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET lease_until = ${NEVER_MS}, snoozed_until = NULL
  WHERE id = :claimId`;

/** A job, and the id of the claim that shall have it. */
export interface Taken {
  readonly job: ClaimedJob;
  readonly to: number;
}

/** How a job leaves one claim for another of its own, or none of it: the claims' rows first, then the jobs. */
export interface PassedOn extends Assignee {
  readonly from: number;
  readonly taken: readonly Taken[];
}

/** Null where the lease does not end by itself. */
export function leaseEnd(leaseUntil: number): number | null {
  return Number(leaseUntil) >= NEVER_MS ? null : Number(leaseUntil);
}

/** Throws a ShortCountError where a job is not the claim's any more. The claim it leaves may have other jobs. */
export function* passOn({ from, taken, ...assignee }: PassedOn): Work<void> {
  const moves = taken.map(({ job: { id }, to }) => ({ sql: PASS_ON, values: { id, from, to } }));
  yield* expectOneEach([addClaims(taken, assignee)], moves);
}

/** Each of its jobs leaves the claim for one of its own, and the claim goes. */
export function* share({ claimId: from, jobs, ...assignee }: Sharing): Work<Assignment[]> {
  const unwanted = yield* lockWishes(from);
  const taken = jobs.filter(({ id }) => !unwanted.has(id)).map((job) => ({ job, to: randomId() }));
  // What somebody wants cancelled stays with the claim, for whoever rescues it.
  if (unwanted.size === 0) yield* endClaim(from);
  if (taken.length === 0) return [];
  yield* passOn({ ...assignee, from, taken });
  return assignments(taken, assignee.owner, yield* leases(taken), null, true);
}

/** Gives jobs that nobody has, and that are locked, claims of their own. */
export function* take(
  taken: readonly Taken[],
  assignee: Assignee,
  maxAttempts: number,
  stage: string | null,
): Work<Assignment[]> {
  yield* note(
    changesOf(
      'claimed',
      taken.map(({ job }) => job),
      assignee.owner,
    ),
  );
  const marks = taken.map(({ job: { id }, to }) => ({ sql: MARK, values: { id, to, maxAttempts } }));
  yield* expectOneEach([addClaims(taken, assignee)], marks);
  return assignments(taken, assignee.owner, yield* leases(taken), stage, true);
}

export function* assign(
  id: number,
  assignee: Assignee,
  from: Holder,
  rules: (queue: string) => AssignRules,
): Work<Assignment> {
  const to = randomId();
  const { claimId, queue } = yield* whereItStands(id);
  if (claimId === 0) {
    const row = yield* lockIdle(id);
    // Somebody was faster.
    if (!row) return yield* assign(id, assignee, from, rules);
    const { maxAttempts, deadLetter } = rules(queue);
    const job = claimedJob(row, queue, maxAttempts, row.attempt + 1);
    return (yield* take([{ job, to }], { ...assignee, deadLetter }, maxAttempts, yield* stageOf(id)))[0]!;
  }
  const held = yield* lockHeld(id, from);
  const stage = yield* stageOf(id);
  const own = { job: held.job, to: held.claimId };
  if (held.owner === assignee.owner) {
    yield* together([{ sql: KEEP_FOR_GOOD, values: { claimId: held.claimId } }]);
    return assignments([own], assignee.owner, new Map([[own.to, null]]), stage, false)[0]!;
  }
  const taken = [{ job: held.job, to }];
  yield* endClaim(held.claimId);
  yield* passOn({ ...assignee, deadLetter: held.deadLetter, from: held.claimId, taken });
  return assignments(taken, assignee.owner, yield* leases(taken), stage, false)[0]!;
}

function addClaims(taken: readonly Taken[], { workerId, owner, leaseMs, deadLetter }: Assignee): Statement {
  const until = leaseMs === null ? NEVER_MS : null;
  const inOrder = [...taken].sort((a, b) => a.to - b.to);
  const rows = inOrder.map(({ job, to }): SqlValue[] => [
    ...[
      to,
      workerId,
      job.queue,
      JSON.stringify([job.id]),
      leaseMs ?? 0,
      until,
      leaseMs ?? 0,
      owner,
      deadLetter || null,
    ],
  ]);
  return { sql: ADD_CLAIMS, values: { rows: new Rows(CLAIM, rows) } };
}

function* expectOneEach(before: readonly Statement[], moves: readonly Statement[]): Work<void> {
  const inOrder = [...moves].sort((a, b) => Number(a.values['id']) - Number(b.values['id']));
  const answers = yield* together([...before, ...inOrder]);
  if (answers.slice(before.length).some(({ changed }) => changed !== 1)) throw new ShortCountError();
}

function* leases(taken: readonly Taken[]): Work<Map<number, number | null>> {
  const rows = yield* query<{ id: number; lease_until: number }>(LEASES, { ids: taken.map(({ to }) => to) });
  return new Map(rows.map(({ id, lease_until }) => [Number(id), leaseEnd(lease_until)]));
}

function assignments(
  taken: readonly Taken[],
  owner: string,
  held: ReadonlyMap<number, number | null>,
  stage: string | null,
  isFresh: boolean,
): Assignment[] {
  return taken.map(({ job, to }) => ({
    ...{ ...contentOf(job), claimId: to, owner, stage, isFresh },
    leaseUntilMs: held.get(to) ?? null,
  }));
}
