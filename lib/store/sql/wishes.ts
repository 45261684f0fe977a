import type { Flush, Settlement } from '../job-store.js';
import { readIds } from '../../job/read-columns.js';
import { goesBack } from './fence.js';
import { query, type Work } from './statement.js';

const LOCK_WISHES = `
  SELECT id, cancelled
  FROM {claims} /*! FORCE INDEX (PRIMARY) */
  WHERE id IN (:ids)
  ORDER BY id /*! FOR UPDATE */`;

const REQUESTS = `
  SELECT id, cancelled
  FROM {claims}
  WHERE id IN (:ids) AND cancelled IS NOT NULL`;

/** The jobs of each claim whose cancellation was requested. Locks nothing. */
export function* cancelRequests(claimIds: readonly number[]): Work<ReadonlyMap<number, readonly number[]>> {
  if (claimIds.length === 0) return new Map();
  const rows = yield* query<{ id: number; cancelled: string }>(REQUESTS, { ids: claimIds });
  return new Map(rows.map(({ id, cancelled }) => [Number(id), readIds(cancelled) ?? []]));
}

export interface Heeded {
  /** All of the flush, in its order: a job that somebody wants cancelled is not sent back. */
  readonly settlements: readonly Settlement[];
  /** Those of the flush that have become another one. */
  readonly cancelled: ReadonlySet<Settlement>;
}

/** The claim's jobs that somebody wants cancelled. Nobody else wishes it before this transaction is over. */
export function* lockWishes(claimId: number): Work<ReadonlySet<number>> {
  const [row] = yield* query<{ cancelled: string | null }>(LOCK_WISHES, { ids: [claimId] });
  return new Set(readIds(row?.cancelled ?? null));
}

/** Reads, under the lock under which they are written, the wishes to cancel that no heartbeat has brought yet. */
export function* cancelUnwanted({ settlements, claims }: Flush): Work<Heeded> {
  const cancelled = new Set<Settlement>();
  const returning = settlements.filter(goesBack);
  if (returning.length === 0) return { settlements, cancelled };
  const ids = new Set([...returning.map(({ claimId }) => claimId), ...claims.map(({ id }) => id)]);
  const inOrder = [...ids].sort((a, b) => a - b);
  const rows = yield* query<{ id: number; cancelled: string | null }>(LOCK_WISHES, { ids: inOrder });
  const wishes = new Map(rows.map((row) => [Number(row.id), readIds(row.cancelled) ?? []]));
  const heed = (settlement: Settlement): Settlement => {
    const isUnwanted = goesBack(settlement) && wishes.get(settlement.claimId)?.includes(settlement.job.id);
    if (!isUnwanted) return settlement;
    cancelled.add(settlement);
    return { ...settlement, outcome: { kind: 'cancel' } };
  };
  return { settlements: settlements.map(heed), cancelled };
}
