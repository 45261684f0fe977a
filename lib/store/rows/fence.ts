import { isFinalOutcome } from '../../job/outcome.js';
import { groupBy } from '../../common/lists.js';
import type { ClaimProgress, Completion } from './completion.js';
import { IS_NOT_RESCUED } from './lease.js';
import {
  deleteFrom,
  executeAll,
  Ids,
  type StatementResult,
  type Statement,
  type Values,
  type Work,
} from '../core/statement.js';

// No further job of a rescued claim may start: its jobs have their attempts back and belong to other claims.
const raiseStartLimit = (condition: string) => `
  UPDATE {claims} {by primary}
  SET start_limit = :startLimit
  WHERE id = :id AND ${IS_NOT_RESCUED}${condition}`;

// A job may return to its queue only if its cancellation is not requested. A request is written under the lock of the
// claim, so either this statement sees it, or the request finds that the job has left the claim.
const UNLESS_CANCEL_REQUESTED = ' AND cancel_requests IS NULL';

const RAISE_START_LIMIT = raiseStartLimit('');
const RAISE_START_LIMIT_UNLESS_CANCEL_REQUESTED = raiseStartLimit(UNLESS_CANCEL_REQUESTED);
const END_CLAIMS = deleteFrom('claims', 'id IN (:ids)');
const END_CLAIMS_UNLESS_CANCEL_REQUESTED = deleteFrom('claims', `id IN (:ids)${UNLESS_CANCEL_REQUESTED}`);

const LOCK_CLAIM_UNLESS_CANCEL_REQUESTED = `
  SELECT id
  FROM {claims} {by primary}
  WHERE id = :id AND cancel_requests IS NULL {lock}`;

/** A statement on jobs of one claim, or on claims. If it matches fewer rows than it names, a claim was lost. */
export interface FencedStatement extends Statement {
  /** How many rows the statement must change or return. Undefined: any number. */
  readonly expectedRows?: number | undefined;
  readonly allowsMore?: boolean;
}

export function isShort({ expectedRows, allowsMore = false }: FencedStatement, result: StatementResult): boolean {
  if (expectedRows === undefined) return false;
  const matched = Math.max(result.affectedRows, result.rows.length);
  return allowsMore ? matched < expectedRows : matched !== expectedRows;
}

interface EndOfJob {
  readonly job: { readonly id: number };
}

export function fence(sql: string, claimId: number, ends: readonly EndOfJob[], values: Values = {}): FencedStatement {
  return { sql, values: { ...values, claimId, ids: idsCondition(ends) }, expectedRows: ends.length };
}

export function idsCondition(ends: readonly EndOfJob[]): Ids {
  return new Ids(ends.map(({ job }) => job.id));
}

export function isFinished({ outcome }: Pick<Completion, 'outcome'>): boolean {
  return isFinalOutcome(outcome);
}

/** In the order of ids, in which every transaction locks several rows. */
export function groupByClaim<End extends Pick<Completion, 'claimId'>>(
  ends: readonly End[],
): [claimId: number, ofClaim: End[]][] {
  return [...groupBy(ends, ({ claimId }) => claimId)].sort(([a], [b]) => a - b);
}

/** The statements for the claims of a batch, in the order of ids, in which heartbeats lock claims, too. */
export function fenceClaims(claims: readonly ClaimProgress[], completions: readonly Completion[]): FencedStatement[] {
  const returning = new Set(completions.filter((one) => !isFinished(one)).map(({ claimId }) => claimId));
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
    sql,
    values: { ids, id: ids[0]!, startLimit },
    // Deleting a claim that is already gone is fine.
    expectedRows: sql === END_CLAIMS ? undefined : ids.length,
  }));
}

/** Some of the claims may be lost. Returns the ids of those whose start limit was not raised. */
export function* writeClaimProgress(claims: readonly ClaimProgress[]): Work<ReadonlySet<number>> {
  const fenced = fenceClaims(claims, []);
  const results = yield* executeAll(fenced);
  const rejected = fenced.filter((one, index) => isShort(one, results[index]!));
  return new Set(rejected.map(({ values }) => values['id'] as number));
}

function sqlFor(claim: ClaimProgress | undefined, hasReturningJobs: boolean): string {
  if (!claim) return LOCK_CLAIM_UNLESS_CANCEL_REQUESTED;
  if (claim.isFinished) return hasReturningJobs ? END_CLAIMS_UNLESS_CANCEL_REQUESTED : END_CLAIMS;
  return hasReturningJobs ? RAISE_START_LIMIT_UNLESS_CANCEL_REQUESTED : RAISE_START_LIMIT;
}
