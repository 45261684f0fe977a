import type { ClaimProgress, Completion } from './completion.js';
import { returnsToQueue, isShort, type FencedStatement } from './fence.js';
import { executeAll, type Work } from '../core/statement.js';

// No further job of a rescued claim may start: its jobs have their attempts back and belong to other claims.
const RAISE_START_LIMIT = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET start_limit = :startLimit
  WHERE id = :id AND lease_until > :now`;

const END_CLAIMS = `
  DELETE /*! {claims} */ FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)`;

// A job may return to its queue only if its cancellation is not requested. A request is written under the lock of the
// claim, so either this statement sees it, or the request finds that the job has left the claim.
const RAISE_START_LIMIT_UNLESS_CANCEL_REQUESTED = `
  UPDATE {claims} /*! FORCE INDEX (PRIMARY) */
  SET start_limit = :startLimit
  WHERE id = :id AND lease_until > :now AND cancel_requests IS NULL`;

const END_CLAIMS_UNLESS_CANCEL_REQUESTED = `
  DELETE /*! {claims} */ FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids) AND cancel_requests IS NULL`;

const LOCK_CLAIM_UNLESS_CANCEL_REQUESTED = `
  SELECT id
  FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id = :id AND cancel_requests IS NULL /*! FOR UPDATE */`;

// END_CLAIMS is missing, because deleting a claim that is already gone is fine.
const FENCED = [
  RAISE_START_LIMIT,
  RAISE_START_LIMIT_UNLESS_CANCEL_REQUESTED,
  END_CLAIMS_UNLESS_CANCEL_REQUESTED,
  LOCK_CLAIM_UNLESS_CANCEL_REQUESTED,
];

/** The statements for the claims of a batch, in the order of ids, in which heartbeats lock claims, too. */
export function fenceClaims(claims: readonly ClaimProgress[], completions: readonly Completion[]): FencedStatement[] {
  const returning = new Set(completions.filter(returnsToQueue).map(({ claimId }) => claimId));
  const progress = new Map<number, ClaimProgress | undefined>(Array.from(returning, (id) => [id, undefined]));
  for (const claim of claims) progress.set(claim.id, claim);
  const groups: { sql: string; ids: number[]; startLimit: number }[] = [];
  for (const [id, claim] of [...progress].sort(([a], [b]) => a - b)) {
    const sql = sqlFor(claim, returning.has(id));
    const last = groups.at(-1);
    // One statement deletes several claims. The other statements are about one claim each.
    if (claim?.isFinished && last?.sql === sql) last.ids.push(id);
    else groups.push({ sql, ids: [id], startLimit: claim?.startLimit ?? 0 });
  }
  return groups.map(({ sql, ids, startLimit }) => ({
    statement: { sql, values: { ids, id: ids[0]!, startLimit } },
    expectedRows: FENCED.includes(sql) ? ids.length : undefined,
  }));
}

/** Some of the claims may be lost. Returns the ids of those whose start limit was not raised. */
export function* writeClaimProgress(claims: readonly ClaimProgress[]): Work<ReadonlySet<number>> {
  const fenced = fenceClaims(claims, []);
  const results = yield* executeAll(fenced.map(({ statement }) => statement));
  const rejected = fenced.filter((one, index) => isShort(one, results[index]!));
  return new Set(rejected.map(({ statement }) => statement.values['id'] as number));
}

function sqlFor(claim: ClaimProgress | undefined, hasReturningJobs: boolean): string {
  if (!claim) return LOCK_CLAIM_UNLESS_CANCEL_REQUESTED;
  if (claim.isFinished) return hasReturningJobs ? END_CLAIMS_UNLESS_CANCEL_REQUESTED : END_CLAIMS;
  return hasReturningJobs ? RAISE_START_LIMIT_UNLESS_CANCEL_REQUESTED : RAISE_START_LIMIT;
}
