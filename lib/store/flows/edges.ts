import { batchesOf } from '../../common/batches-of.js';
import { groupBy } from '../../common/group-by.js';
import type { NewEdge } from '../../job/flows/flow.js';
import type { NewJob } from '../../job/job.js';
import { isFinalOutcome } from '../../job/outcome.js';
import type { FinalState } from '../../job/job-state.js';
import { idsOf } from '../core/safe-id.js';
import type { Completion } from '../jobs/completion.js';
import {
  chunksOf,
  executeAll,
  Ids,
  lengthOf,
  query,
  rowChunks,
  Rows,
  type Statement,
  type Values,
  type Work,
} from '../core/statement.js';

const ADD_EDGES = `
  INSERT INTO {edges} (job_id, needs, queue, name, on_failure)
  VALUES :rows`;

const EDGE_ROW = `(?, ?, ?, ?, ?)`;

// For a job that needs many others the server copies their queues and names.
const COPY_EDGES = `
  INSERT INTO {edges} (job_id, needs, queue, name, on_failure)
  SELECT :jobId, id, queue, name, :onFailure
  FROM {jobs} /*! FORCE INDEX (PRIMARY) */
  WHERE :ids`;

const MIN_COPY_SIZE = 8;
// Of one text. A statement with thousands of ids that do not follow each other is long.
const MAX_STATEMENTS = 100;

const CLOSED_STATE = `CASE WHEN :outcome = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END`;

const CLOSE = `
  UPDATE {edges} /*! FORCE INDEX ({edges}_needs) */
  SET state = ${CLOSED_STATE}, outcome = :outcome, result = NULL, error = NULL
  WHERE :needs`;

const valueOfEach = (column: string, count: number) =>
  `CASE needs ${Array.from({ length: count }, (_, n) => `WHEN :id${n} THEN :${column}${n}`).join(' ')} END`;

const CLOSE_WITH_VALUES = (count: number) => `
  UPDATE {edges} /*! FORCE INDEX ({edges}_needs) */
  SET state = ${CLOSED_STATE}, outcome = :outcome, result = ${valueOfEach('result', count)},
      error = ${valueOfEach('error', count)}
  WHERE :needs`;

// The server compares each row with the ids in turn, so a longer list costs more for each row.
const MAX_VALUES = 50;

const REOPEN = `
  UPDATE {edges} /*! FORCE INDEX ({edges}_needs) */
  SET state = 'open', outcome = '', result = NULL, error = NULL
  WHERE :needs`;

const IGNORE_FAILURES = `
  UPDATE {edges} /*! FORCE INDEX (PRIMARY) */
  SET state = 'done'
  WHERE job_id = :id AND state = 'failed'`;

const BLOCKED_AMONG = `
  SELECT DISTINCT job_id AS id
  FROM {edges} /*! FORCE INDEX (PRIMARY) */
  WHERE job_id IN (:ids) AND state = 'open'`;

const STATES: Readonly<Record<string, FinalState>> = { complete: 'completed', dead: 'dead', cancel: 'cancelled' };

const NONE: readonly Statement[] = [];

/** The end of a job. */
export interface EndInFlow extends Pick<Completion, 'outcome'> {
  readonly job: Pick<Completion['job'], 'id' | 'overrides'>;
}

/** A row of the edges: the waiting job, the other one with its queue and name, and what happens if that fails. */
export type EdgeRow = [jobId: number, needs: number, queue: string, name: string, onFailure: string];

/** The transaction must have stored the jobs. */
export function* addEdges(rows: readonly EdgeRow[]): Work<void> {
  const single: EdgeRow[] = [];
  const copies: Statement[] = [];
  for (const group of groupBy(rows, ([jobId, , , , onFailure]) => `${jobId} ${onFailure}`).values()) {
    const [jobId, , , , onFailure] = group[0]!;
    if (group.length < MIN_COPY_SIZE) single.push(...group);
    else copies.push({ sql: COPY_EDGES, values: { jobId, onFailure, ids: new Ids(group.map(([, needs]) => needs)) } });
  }
  const inserts = rowChunks(single).map((chunk) => ({ sql: ADD_EDGES, values: { rows: new Rows(EDGE_ROW, chunk) } }));
  for (const batch of batchesOf([...inserts, ...copies], MAX_STATEMENTS)) yield* executeAll(batch);
}

/** The edges of a flow. If no job waits for a job, the flow itself does. */
export function edgeRows(
  flowId: number,
  jobs: readonly NewJob[],
  edges: readonly NewEdge[],
  ids: readonly number[],
): EdgeRow[] {
  const rowOf = (jobId: number, needs: number, onFailure: string): EdgeRow => {
    const { queue, name } = jobs[needs]!;
    return [jobId, ids[needs]!, queue, name, onFailure];
  };
  const needed = new Set(edges.map(({ needs }) => needs));
  const last = jobs.flatMap((_, index) => (needed.has(index) ? [] : [rowOf(-flowId, index, 'run')]));
  const rows = edges.map(({ job, needs, onFailure }) => rowOf(ids[job]!, needs, onFailure));
  // In the order of the primary key.
  return [...last, ...rows].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

/** The statements that record the end of jobs of flows. They come after those that delete the jobs. */
export function closeEdges(completions: readonly EndInFlow[]): readonly Statement[] {
  if (!completions.some(isEndInFlow)) return NONE;
  const ended = completions.filter(isEndInFlow).sort((a, b) => a.job.id - b.job.id);
  const alike = groupBy(ended, (completion) => `${completion.outcome.kind} ${hasValue(completion)}`);
  return [...alike.values()].flatMap((group) =>
    hasValue(group[0]!)
      ? chunksOf(group, (completion) => lengthOf(resultAndError(completion)), MAX_VALUES).map(closeWithValues)
      : [close(group)],
  );
}

function close(ended: readonly EndInFlow[]): Statement {
  const needs = new Ids(idsOf(ended.map(({ job }) => job)), 'needs');
  return { sql: CLOSE, values: { outcome: STATES[ended[0]!.outcome.kind]!, needs } };
}

function closeWithValues(ended: readonly EndInFlow[]): Statement {
  const values: Record<string, Values[string]> = { ...close(ended).values };
  ended.forEach((completion, n) => {
    values[`id${n}`] = completion.job.id;
    [values[`result${n}`], values[`error${n}`]] = resultAndError(completion);
  });
  return { sql: CLOSE_WITH_VALUES(ended.length), values };
}

function resultAndError({ outcome }: EndInFlow): [result: string | null, error: string | null] {
  const result = outcome.kind === 'complete' ? outcome.result : null;
  return [result, 'error' in outcome && outcome.error ? JSON.stringify(outcome.error) : null];
}

/**
 * The jobs run again. Jobs that wait for them wait for their next end. Returns those of the jobs that wait for others, which
 * run again too: jobs that stay failed no longer matter to them.
 */
export function* reopenEdges(ids: readonly number[]): Work<ReadonlySet<number>> {
  yield* executeAll([
    { sql: REOPEN, values: { needs: new Ids(ids, 'needs') } },
    ...ids.map((id) => ({ sql: IGNORE_FAILURES, values: { id } })),
  ]);
  return new Set((yield* query<{ id: number }>(BLOCKED_AMONG, { ids })).map(({ id }) => Number(id)));
}

function isEndInFlow({ job, outcome }: EndInFlow): boolean {
  return job.overrides?.flow !== undefined && isFinalOutcome(outcome);
}

function hasValue({ outcome }: Pick<Completion, 'outcome'>): boolean {
  return outcome.kind === 'complete' ? outcome.result !== null : 'error' in outcome && outcome.error !== undefined;
}
