import { ascending, idsOf } from '../../../job/identifiers.js';
import { executeInBatches, Ids, queryIds, queryInBatches, statement, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';

const EDGES_TO = `
  SELECT job_id, needs, state, fan_out
  FROM {edges} {by edges.needs}
  WHERE needs IN (:ids) {latest}`;

// Locked, so that no settling unblocks the jobs before their edges are open again. No claim or completion locks such jobs.
const LOCK_BLOCKED = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE id IN (:ids) AND state = 'blocked'
  ORDER BY id {lock}`;

const UNFINISHED = `
  SELECT id
  FROM {jobs} {by primary}
  WHERE id IN (:ids) {current}`;

const LAST_FAN_OUTS = `
  SELECT job_id AS id, MAX(fan_out) AS last_fan_out
  FROM {edges} {by primary}
  WHERE job_id IN (:ids)
  GROUP BY job_id {latest}`;

const OPEN = `state = 'open', outcome = '', result = NULL, error = NULL`;

const REOPEN = `
  UPDATE {edges} {by edges.needs}
  SET ${OPEN}
  WHERE :needs`;

const REOPEN_EDGE = `
  UPDATE {edges} {by primary}
  SET ${OPEN}
  WHERE job_id = :jobId AND needs = :needs`;

const IGNORE_FAILURES = `
  UPDATE {edges} {by primary}
  SET state = 'done'
  WHERE job_id = :id AND state = 'failed'`;

const BLOCKED_AMONG = `
  SELECT DISTINCT job_id AS id
  FROM {edges} {by primary}
  WHERE job_id IN (:ids) AND state = 'open' {current}`;

const BATCH_SIZE = 500;

type Edge = Pick<TableRow<'edges'>, 'job_id' | 'needs' | 'state' | 'fan_out'>;

export interface ReopenedEdges {
  /** Those of the jobs that wait for others, which run again too: jobs that stay failed no longer matter to them. */
  readonly blocked: ReadonlySet<number>;
  /** For each job that a flow itself waits for: the flow. */
  readonly flows: ReadonlyMap<number, number>;
}

/**
 * The jobs run again. Jobs that still wait for them, or have ended, wait for their next end. A job that has gone on since
 * then keeps their previous end.
 *
 * @param isInFlow whether the options of the job name its flow. If its last run has not known it, only its edges do
 */
export function* reopenEdges(jobIds: readonly number[], isInFlow: (id: number) => boolean): Work<ReopenedEdges> {
  const read = yield* queryInBatches<Edge>(EDGES_TO, jobIds, BATCH_SIZE);
  const edges = [...new Map(read.map((edge) => [`${edge.job_id} ${edge.needs}`, edge])).values()];
  const needed = new Set(edges.map(({ needs }) => Number(needs)));
  const ids = jobIds.filter((id) => needed.has(id) || isInFlow(id));
  if (ids.length === 0) return { blocked: new Set(), flows: new Map() };
  const passed = yield* passedEdges(edges.filter(({ job_id, state }) => Number(job_id) > 0 && state === 'done'));
  const reopened = edges.filter((edge) => !passed.has(edge));
  const reopen =
    passed.size === 0
      ? [statement(REOPEN, { needs: new Ids(ids, 'needs') })]
      : reopened.map(({ job_id, needs }) => statement(REOPEN_EDGE, { jobId: job_id, needs }));
  yield* executeInBatches([...reopen, ...ids.map((id) => statement(IGNORE_FAILURES, { id }))]);
  const ends = edges.filter(({ job_id }) => Number(job_id) < 0);
  return {
    blocked: new Set(yield* queryIds(BLOCKED_AMONG, { ids })),
    flows: new Map(ends.map(({ job_id, needs }) => [Number(needs), -Number(job_id)])),
  };
}

/** The edges of jobs that have gone on: they run, can run, or wait in a later fan-out. */
function* passedEdges(done: readonly Edge[]): Work<ReadonlySet<Edge>> {
  const dependents = ascending(done.map(({ job_id }) => Number(job_id)));
  const blocked = idsOf(yield* queryInBatches<{ id: number }>(LOCK_BLOCKED, dependents, BATCH_SIZE));
  const unfinished = new Set(idsOf(yield* queryInBatches<{ id: number }>(UNFINISHED, dependents, BATCH_SIZE)));
  const lasts = yield* queryInBatches<{ id: number; last_fan_out: number }>(LAST_FAN_OUTS, blocked, BATCH_SIZE);
  const lastOf = new Map(lasts.map(({ id, last_fan_out }) => [Number(id), Number(last_fan_out)]));
  return new Set(
    done.filter(({ job_id, fan_out }) => {
      const last = lastOf.get(Number(job_id));
      return last === undefined ? unfinished.has(Number(job_id)) : Number(fan_out) < last;
    }),
  );
}
