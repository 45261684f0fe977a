import type { ChangeOfPause, NeededJob } from '../../job/explain/job-reason.js';
import { isOptions } from '../../job/expectation.js';
import type { JobState } from '../../job/job-state.js';
import { readNames } from '../../job/read-columns.js';
import type { AuditVerb } from '../features/audit/audit-store.js';
import { parseJsonOrNull } from '../core/parse-json.js';
import { query, queryInBatches, type Work } from '../core/statement.js';
import type { TableRow } from '../tables/table-schemas.js';
import { idsInClaims } from '../reads/live-candidates.js';

// One statement, so that a job that moves to the history is found in one of the two tables.
const STATES = `
  SELECT id, state
  FROM {history} {by primary}
  WHERE id IN (:ids)
  UNION ALL
  SELECT j.id, CASE WHEN j.state = 'waiting' AND j.run_at IS NOT NULL THEN 'scheduled' ELSE j.state END
  FROM {jobs} j {by primary}
  WHERE j.id IN (:ids)`;

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

// The last changes with this verb, of all queues. A pause before them is not found.
const LAST_CHANGES = `
  SELECT made_by, details, changed_at
  FROM (
    SELECT queue, made_by, details, changed_at, id
    FROM {audit} {by audit.verb}
    WHERE verb = :verb
    ORDER BY changed_at DESC, id DESC
    LIMIT 200
  ) AS latest
  WHERE queue = :queue OR queue IS NULL
  ORDER BY changed_at DESC, id DESC`;

const SERVED = `
  SELECT queues
  FROM {workers}
  WHERE seen_at > :now - 60000
  ORDER BY started_at DESC
  LIMIT 20`;

const MAX_NEEDS = 10;
const ID_BATCH_SIZE = 1_000;

export function* readJobStates(ids: readonly number[]): Work<{ id: number; state: JobState }[]> {
  const rows = yield* queryInBatches<{ id: number; state: JobState }>(STATES, ids, ID_BATCH_SIZE);
  return rows.map(({ id, state }) => ({ id: Number(id), state }));
}

export function* readNeededJobs(id: number): Work<{ needs: NeededJob[]; more: boolean }> {
  const rows = yield* query<Pick<TableRow<'edges'>, 'needs' | 'queue' | 'name'>>(NEEDS, { id });
  const shown = rows.slice(0, MAX_NEEDS);
  const states = yield* readJobStates(shown.map(({ needs }) => Number(needs)));
  const stateOf = new Map(states.map((job) => [job.id, job.state]));
  const needs = shown.map(({ needs: needed, queue, name }): NeededJob => {
    const neededId = Number(needed);
    return { id: neededId, queue, name, state: stateOf.get(neededId) ?? 'removed' };
  });
  return { needs, more: rows.length > MAX_NEEDS };
}

/** The active jobs of the queue, as its limit counts them. */
export function* readActiveIds(queue: string): Work<number[]> {
  const ids = [...new Set(yield* idsInClaims({ queue }))];
  const rows = yield* queryInBatches<{ id: number }>(ACTIVE, ids, ID_BATCH_SIZE, { queue });
  return rows.map(({ id }) => Number(id)).sort((a, b) => a - b);
}

/** Some names, for a suggestion. */
export function* readServedQueues(): Work<string[]> {
  const rows = yield* query<Pick<TableRow<'workers'>, 'queues'>>(SERVED);
  return [...new Set(rows.flatMap(({ queues }) => readNames(queues)))];
}

/**
 * The last pause in the audit, which may be too old or may have been made by other means.
 *
 * @param group undefined: that of the queue
 */
export function* readPause(queue: string, group?: string): Work<ChangeOfPause> {
  const verbs: readonly AuditVerb[] = group === undefined ? ['pause', 'configure'] : ['group.pause'];
  const found: AuditRow[] = [];
  for (const verb of verbs) {
    const rows = yield* query<AuditRow>(LAST_CHANGES, { queue, verb });
    const pause = rows.find(({ details }) => isPause(details, verb, queue, group));
    if (pause) found.push(pause);
  }
  const last = found.sort((a, b) => Number(b.changed_at) - Number(a.changed_at))[0];
  return { since: last ? new Date(Number(last.changed_at)) : null, by: last?.made_by ?? null };
}

type AuditRow = Pick<TableRow<'audit'>, 'made_by' | 'details' | 'changed_at'>;

function isPause(text: string, verb: AuditVerb, queue: string, group: string | undefined): boolean {
  const { which, options } = parseJsonOrNull<{ which?: unknown; options?: unknown }>(text) ?? {};
  if (verb === 'group.pause') return isOptions(which) && 'group' in which && which.group === group;
  if (verb === 'configure') return isOptions(options) && 'paused' in options && options.paused === true;
  return which === queue || isOptions(which);
}
