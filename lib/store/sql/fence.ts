import type { Settlement } from '../job-store.js';
import { Ids, type Statement, type Values } from './statement.js';

/** A statement on jobs of one claim. Where it changes fewer than it names, some are not ours any more. */
export interface Fenced {
  readonly statement: Statement;
  /** So many it has to change. */
  readonly jobs: number;
}

export function fence(sql: string, claimId: number, settlements: readonly Settlement[], values: Values = {}): Fenced {
  return { statement: { sql, values: { ...values, claimId, ids: idsOf(settlements) } }, jobs: settlements.length };
}

export function idsOf(settlements: readonly Settlement[]): Ids {
  return new Ids(settlements.map(({ job }) => job.id));
}

export function isFinished({ outcome }: Settlement): boolean {
  return outcome.kind === 'complete' || outcome.kind === 'dead' || outcome.kind === 'cancel';
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
