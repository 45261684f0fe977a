import type { GroupFacts } from '../../job/explain/job-facts.js';
import type { NeededJob } from '../../job/explain/job-reason.js';
import type { JobState } from '../../job/job-state.js';
import { query, queryInBatches, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';
import { KEEPS_PLACE } from '../features/groups/group-row.js';
import { readStates } from '../reads/job-states.js';
import { idsInClaims } from '../reads/live-candidates.js';

const NEEDS = `
  SELECT needs, queue, name
  FROM {edges} {by primary}
  WHERE job_id = :id AND state IN ('open', 'failed')
  ORDER BY needs
  LIMIT ${10 + 1}`;

const ACTIVE = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND queue = :queue AND state = 'active'`;

const HOLDERS = `
  SELECT id, state
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND queue = :queue AND group_key = :group AND (state = 'active' OR (${KEEPS_PLACE}))`;

const MAX_NEEDS = 10;
const ID_BATCH_SIZE = 1_000;

/**
 * Those of the jobs that may count against the limit of the group.
 *
 * @param ids as the row of the group lists them. A job may have moved to another group or queue since
 */
export function* readHolders(queue: string, group: string, ids: readonly number[]): Work<GroupFacts['holders']> {
  const rows = yield* queryInBatches<{ id: number; state: JobState }>(HOLDERS, ids, ID_BATCH_SIZE, { queue, group });
  return rows.map(({ id, state }) => ({ id: Number(id), state }));
}

export function* readNeededJobs(id: number): Work<{ needs: NeededJob[]; more: boolean }> {
  const rows = yield* query<Pick<TableRow<'edges'>, 'needs' | 'queue' | 'name'>>(NEEDS, { id });
  const shown = rows.slice(0, MAX_NEEDS);
  const states = yield* readStates(shown.map(({ needs }) => Number(needs)));
  const needs = shown.map(({ needs: needed, queue, name }): NeededJob => {
    const neededId = Number(needed);
    return { id: neededId, queue, name, state: states.get(neededId)?.state ?? 'removed' };
  });
  return { needs, more: rows.length > MAX_NEEDS };
}

/** The active jobs of the queue, as its limit counts them. */
export function* readActiveIds(queue: string): Work<number[]> {
  const ids = [...new Set(yield* idsInClaims({ queue }))];
  const rows = yield* queryInBatches<{ id: number }>(ACTIVE, ids, ID_BATCH_SIZE, { queue });
  return rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
}
