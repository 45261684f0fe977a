import type { CompletionBatch, CompletionResult, Completion } from './completion.js';
import { readIds } from '../../job/read-columns.js';
import { isFinished } from './fence.js';
import { ascending } from '../../job/identifiers.js';
import { query, type Work } from '../core/statement.js';

const LOCK_CANCEL_REQUESTS = `
  SELECT id, cancel_requests
  FROM {claims} {by primary}
  WHERE id IN (:ids)
  ORDER BY id {lock}`;

const CANCEL_REQUESTS = `
  SELECT id, cancel_requests
  FROM {claims}
  WHERE id IN (:ids) AND cancel_requests IS NOT NULL`;

/** Reads the ids of the jobs of each claim whose cancellation is requested. Locks nothing. */
export function* cancelRequests(claimIds: readonly number[]): Work<ReadonlyMap<number, readonly number[]>> {
  return claimIds.length === 0 ? new Map() : yield* readRequests(CANCEL_REQUESTS, claimIds);
}

function* readRequests(sql: string, ids: readonly number[]): Work<ReadonlyMap<number, readonly number[]>> {
  const rows = yield* query<{ id: number; cancel_requests: string | null }>(sql, { ids });
  return new Map(rows.map(({ id, cancel_requests }) => [Number(id), readIds(cancel_requests) ?? []]));
}

/** The ids of the claim's jobs whose cancellation is requested. No request is added before this transaction ends. */
export function* lockCancelRequests(claimId: number): Work<ReadonlySet<number>> {
  return new Set((yield* readRequests(LOCK_CANCEL_REQUESTS, [claimId])).get(claimId));
}

/**
 * Reads the requests that no heartbeat has delivered yet, under the lock under which they are written. Returns all
 * completions of the batch, in its order, and in `cancelled` the given ones whose outcomes a cancellation replaces.
 */
export function* honourCancelRequests({
  completions,
  claims,
}: CompletionBatch): Work<Pick<CompletionBatch, 'completions'> & Pick<CompletionResult, 'cancelled'>> {
  const cancelled = new Set<Completion>();
  const returning = completions.filter((completion) => !isFinished(completion));
  if (returning.length === 0) return { completions, cancelled };
  const ids = ascending([...returning.map(({ claimId }) => claimId), ...claims.map(({ id }) => id)]);
  const requests = yield* readRequests(LOCK_CANCEL_REQUESTS, ids);
  const honour = (completion: Completion): Completion => {
    const isRequested = requests.get(completion.claimId)?.includes(completion.job.id);
    if (!isRequested || isFinished(completion)) return completion;
    cancelled.add(completion);
    return { ...completion, outcome: { kind: 'cancel' } };
  };
  return { completions: completions.map(honour), cancelled };
}
