import { allowedInMs, jobsAllowed, jobSpacingUs, mostAheadUs, useAfter } from '../../../job/limits/rate.js';
import type { Limits, Rate } from '../../../job/limits/limit-options.js';
import type { ClaimedJob } from '../../../job/job.js';
import { readIds } from '../../../job/read-columns.js';
import { batchesOf } from '../../../common/lists.js';
import { executeAll, Ids, query, READ_TIME, type Statement, type Work } from '../../core/statement.js';
import { idsOf } from '../../../job/identifiers.js';
import type { ClaimRequest } from '../../rows/claim.js';
import { findClaimedJobs, type ListedClaim } from '../../rows/lease.js';
import { limitsOf } from './limits-row.js';
import { restEndOf } from './rest.js';
import type { TableRow } from '../../tables/table-schemas.js';

// Claims of one queue wait here for each other, so that each sees the jobs of the one before it. The holder of the lock
// waits for no other lock: its scan skips locked jobs.
const LOCK_LIMITS = `
  SELECT declared, overrides, rate_until_us, rate_used, rest_until, rest_ms
  FROM {limits} {by primary}
  WHERE queue = :queue {lock}`;

const CLAIMS_OF_QUEUE = `
  SELECT id, queue, job_ids
  FROM {claims}
  WHERE queue = :queue`;

const COUNT_ACTIVE = `
  SELECT COUNT(*) AS jobs
  FROM {jobs} {by primary}
  WHERE :ids AND queue = :queue AND state = 'active'`;

// Each limited claim changes the row, so that claims on two nodes of a cluster conflict. The time is that of the claim.
const COUNT_CLAIM = `
  UPDATE {limits} {by primary}
  SET claim_count = claim_count + 1
  WHERE queue = :queue`;

const USE_SLIDING_RATE = `
  UPDATE {limits} {by primary}
  SET claim_count = claim_count + 1,
      rate_until_us = :usedUs + CASE
        WHEN rate_until_us BETWEEN :now * 1000 + :roundingUs AND :now * 1000 + :mostAheadUs THEN rate_until_us
        ELSE :now * 1000 + :roundingUs END
  WHERE queue = :queue`;

// The server assigns from left to right, so the count comes before the window that it is compared with.
const USE_FIXED_RATE = `
  UPDATE {limits} {by primary}
  SET claim_count = claim_count + 1,
      rate_used = CASE WHEN rate_until_us = (:now - :now % :perMs + :perMs) * 1000 THEN rate_used ELSE 0 END + :jobs,
      rate_until_us = (:now - :now % :perMs + :perMs) * 1000
  WHERE queue = :queue`;

const IDS_PER_STATEMENT = 10_000;

type LockedLimits = Omit<TableRow<'limits'>, 'queue' | 'claim_count'>;

/** The jobs that a claim may take now, and the milliseconds until there is more room; null: when a job ends. */
type Room = Readonly<{ jobs: number; moreInMs: number | null }>;

/**
 * Claims up to the limits of the queue: jobs that run at once, counted from the claims themselves, so that no process can
 * leave a slot taken; and the rate, of which only the claimed jobs use a part.
 *
 * @param claim claims up to `limit` jobs. Its last step has the statements of `alsoWrites`
 */
export function* claimWithinLimits(
  request: ClaimRequest,
  claim: (request: ClaimRequest) => Work<ClaimedJob[]>,
): Work<ClaimedJob[]> {
  const { queue } = request;
  const [locked, time, claims] = yield* executeAll([
    { sql: LOCK_LIMITS, values: { queue } },
    { sql: READ_TIME, values: {} },
    { sql: CLAIMS_OF_QUEUE, values: { queue } },
  ]);
  const row = locked!.rows[0] as unknown as LockedLimits | undefined;
  if (!row) return yield* claim(request);
  const limits = limitsOf(row);
  const active = limits.maxRunning === null ? 0 : yield* countActive(queue, claims!.rows as unknown as ListedClaim[]);
  const { jobs, moreInMs } = roomFor(request.limit, row, limits, active, Number(time!.rows[0]!['at']));
  if (jobs < request.limit) request.onLimited?.(moreInMs, jobs);
  if (jobs === 0) return [];
  return yield* claim({ ...request, limit: jobs, alsoWrites: (claimed) => [useOf(queue, limits.rate, claimed)] });
}

function roomFor(wanted: number, row: LockedLimits, { maxRunning, rate }: Limits, active: number, nowMs: number): Room {
  const restMs = restEndOf(row, nowMs) - nowMs;
  if (restMs > 0) return { jobs: 0, moreInMs: restMs };
  const use = { untilUs: Number(row.rate_until_us), used: Number(row.rate_used) };
  const slots = maxRunning === null ? Infinity : Math.max(0, maxRunning - active);
  const allowed = rate === null ? Infinity : jobsAllowed(rate, use, nowMs);
  if (slots <= allowed || rate === null) return { jobs: Math.min(wanted, slots), moreInMs: null };
  const jobs = Math.min(wanted, allowed);
  return { jobs, moreInMs: allowedInMs(rate, useAfter(rate, use, nowMs, jobs), nowMs, wanted - jobs) };
}

function* countActive(queue: string, claims: readonly ListedClaim[]): Work<number> {
  const ids = new Set<number>();
  for (const claim of claims) {
    const listed = readIds(claim.job_ids);
    for (const id of listed?.length ? listed : idsOf(yield* findClaimedJobs(claim))) ids.add(id);
  }
  let jobs = 0;
  for (const batch of batchesOf([...ids], IDS_PER_STATEMENT)) {
    const [row] = yield* query<{ jobs: number | string }>(COUNT_ACTIVE, { queue, ids: new Ids(batch) });
    jobs += Number(row!.jobs);
  }
  return jobs;
}

function useOf(queue: string, rate: Rate | null, jobs: number): Statement {
  if (rate === null) return { sql: COUNT_CLAIM, values: { queue } };
  if (rate.window === 'fixed') return { sql: USE_FIXED_RATE, values: { queue, jobs, perMs: rate.perMs } };
  const spacingUs = jobSpacingUs(rate);
  // The time is in whole milliseconds, which are short for jobs that follow each other faster.
  const roundingUs = spacingUs < 1_000 ? 1_000 : 0;
  return {
    sql: USE_SLIDING_RATE,
    values: { queue, roundingUs, usedUs: jobs * spacingUs, mostAheadUs: mostAheadUs(rate) },
  };
}
