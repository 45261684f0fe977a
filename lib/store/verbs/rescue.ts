import { outcomeWithoutRun, type Outcome } from '../../job/outcome.js';
import { readIds } from '../../job/read-columns.js';
import type { Completion } from '../rows/completion.js';
import type { OnRescued, RescuedJob, RescueRules } from './job-store.js';
import { toClaimedJob, CLAIMED_COLUMNS, type ClaimedRow } from '../rows/claimed-row.js';
import {
  IS_AHEAD_OF_CLOCK,
  deleteEmptyClaims,
  endLease,
  findClaimedJobs,
  startedIdsOf,
  type ListedClaim,
} from '../rows/lease.js';
import { endJobs, rescueEvents } from '../ends/end-jobs.js';
import { idsOf } from '../../job/identifiers.js';
import { execute, query, queryIds, type Work } from '../core/statement.js';
import { IS_STAGED, type StagedRow } from '../tables/runnable.js';
import { requireDecisions, withDecisions } from '../core/with-decisions.js';
import type { TableRow } from '../tables/table-schemas.js';

const EXPIRED_CLAIMS = `
  SELECT id
  FROM {claims}
  WHERE id > :after AND (lease_until <= :now OR (${IS_AHEAD_OF_CLOCK}))
  ORDER BY id
  LIMIT :limit`;

export const EXPIRED_CLAIM_COLUMNS = 'id, worker_id, owner, queue, job_ids, start_limit, cancel_requests, dead_letter';

// Checks the lease again under the lock, because the worker may have renewed it. Skips a claim that another rescue has
// locked.
const LOCK_EXPIRED = `
  SELECT ${EXPIRED_CLAIM_COLUMNS}
  FROM {claims} {by primary}
  WHERE id = :id AND lease_until <= :now {lock free}`;

const LOCK_AHEAD_OF_CLOCK = `
  SELECT id
  FROM {claims} {by primary}
  WHERE id = :id AND ${IS_AHEAD_OF_CLOCK} {lock free}`;

const RESTART_LEASE = `
  UPDATE {claims} {by primary}
  SET lease_until = :now + lease_ms
  WHERE id = :id`;

// A job that the transaction of its handler has locked may still complete, so it stays for the next rescue.
const LOCK_CLAIMED_JOBS = `
  SELECT ${CLAIMED_COLUMNS}, queue, ${IS_STAGED}, :now AS at
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND claim_id = :claimId
  ORDER BY id {lock free}`;

export type ExpiredClaim = ListedClaim &
  Pick<TableRow<'claims'>, 'worker_id' | 'owner' | 'start_limit' | 'cancel_requests' | 'dead_letter'>;

const CANCEL = { kind: 'cancel' } as const;

/** Reads without locks; the rescue locks and checks each claim again. */
export function findExpiredClaims(after: number, limit: number): Work<number[]> {
  return queryIds(EXPIRED_CLAIMS, { after, limit });
}

export function* rescueClaim(claimId: number, rules: RescueRules): Work<RescuedJob[]> {
  const [claim] = yield* query<ExpiredClaim>(LOCK_EXPIRED, { id: claimId });
  if (claim) return yield* rescueJobsOf(claim, rules);
  // After the server clock was set back, the lease expires one lease length from now, unless the worker renews it. The
  // worker abandons the claim before that.
  const ahead = yield* query(LOCK_AHEAD_OF_CLOCK, { id: claimId });
  if (ahead.length > 0) yield* execute(RESTART_LEASE, { id: claimId });
  return [];
}

/** The caller has locked the claim. */
export function* rescueJobsOf(claim: ExpiredClaim, rules: RescueRules): Work<RescuedJob[]> {
  const claimId = Number(claim.id);
  const listed = readIds(claim.job_ids);
  const found = listed?.length ? listed : idsOf(yield* findClaimedJobs(claim));
  const ids = found.filter((id) => !rules.isRunning(claimId, id));
  const startedIds = new Set(startedIdsOf(claim) ?? found);
  const cancelRequested = readIds(claim.cancel_requests) ?? [];
  const rows =
    ids.length === 0
      ? []
      : yield* query<ClaimedRow & StagedRow & { queue: string; at: number }>(LOCK_CLAIMED_JOBS, { ids, claimId });
  const deadLetter = claim.dead_letter ?? false;
  const holder = { workerId: claim.worker_id, owner: claim.owner };
  const expired = rows.map((row) => {
    const job = toClaimedJob(row, row.queue);
    return { ...job, ...holder, mayHaveStarted: startedIds.has(job.id) };
  });
  const outcomes = requireDecisions<Outcome>(
    expired.map((job) => outcomeWithoutRun(job) ?? (cancelRequested.includes(job.id) ? CANCEL : rules.decide(job))),
  );
  const rescued: RescuedJob[] = expired.map((job, index) => ({ job, outcome: outcomes[index]!, deadLetter }));
  const common = { claimId, ...holder, ranMs: null, deadLetter } as const;
  const completions = expired.map((job, index): Completion => {
    const { at, is_staged } = rows[index]!;
    const facts = { isStaged: Number(is_staged) === 1, endedAt: new Date(Number(at)) };
    return { ...common, ...facts, job, outcome: outcomes[index]!, retentionMs: rules.retentionMs(job.queue) };
  });
  yield* endJobs(completions, { events: rescueEvents(completions) });
  const [remaining] = yield* deleteEmptyClaims([claimId]);
  if (remaining !== undefined && rescued.length > 0) yield* endLease(claimId);
  return rescued;
}

/**
 * Rejects only if errors occurred and no job was rescued.
 *
 * @param onRescued called for each claim with rescued jobs, after its transaction
 */
export async function rescueEach<Claim>(
  claims: readonly Claim[],
  rules: RescueRules,
  rescue: (claim: Claim, rules: RescueRules) => Promise<readonly RescuedJob[]>,
  onRescued: OnRescued,
): Promise<RescuedJob[]> {
  const rescued: RescuedJob[] = [];
  const errors: unknown[] = [];
  for (const claim of claims) {
    try {
      const jobs = await withDecisions(rules.decide, (decide) => rescue(claim, { ...rules, decide }));
      if (jobs.length > 0) onRescued(jobs);
      rescued.push(...jobs);
    } catch (error) {
      // One failing claim must not keep the others from being rescued.
      errors.push(error);
    }
  }
  if (rescued.length === 0 && errors.length > 0) throw errors[0];
  return rescued;
}
