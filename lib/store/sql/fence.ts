import { isFinal } from '../../job/outcome.js';
import type { Settlement } from '../job-store.js';
import { Ids, type Answer, type Statement, type Values } from './statement.js';

/** A statement on jobs of one claim, or on claims. Where it meets fewer rows than it names, something is not as we think. */
export interface Fenced {
  readonly statement: Statement;
  /** So many it has to change or to find; undefined: however many. */
  readonly rows: number | undefined;
  /** More rows than that are fine. */
  readonly orMore?: boolean;
}

export function isShort({ rows, orMore = false }: Fenced, answer: Answer): boolean {
  if (rows === undefined) return false;
  const met = Math.max(answer.changed, answer.rows.length);
  return orMore ? met < rows : met !== rows;
}

export function fence(sql: string, claimId: number, settlements: readonly Settlement[], values: Values = {}): Fenced {
  return { statement: { sql, values: { ...values, claimId, ids: idsOf(settlements) } }, rows: settlements.length };
}

export function idsOf(settlements: readonly Settlement[]): Ids {
  return new Ids(settlements.map(({ job }) => job.id));
}

export function isFinished({ outcome }: Settlement): boolean {
  return isFinal(outcome);
}

/** Whether the job goes on. */
export function goesBack(settlement: Settlement): boolean {
  return !isFinished(settlement);
}

export function byClaim(settlements: readonly Settlement[]): [claimId: number, settlements: Settlement[]][] {
  const claims = new Map<number, Settlement[]>();
  for (const settlement of settlements) {
    const ofClaim = claims.get(settlement.claimId);
    if (ofClaim) ofClaim.push(settlement);
    else claims.set(settlement.claimId, [settlement]);
  }
  // In id order, like every lock that is taken on several rows.
  return [...claims].sort(([a], [b]) => a - b);
}
