import { groupBy } from '../../common/group-by.js';
import type { NewEdge } from '../../job/flows/flow.js';
import type { NewJob } from '../../job/job.js';
import { isFinalOutcome } from '../../job/outcome.js';
import type { FinalState } from '../../job/job-state.js';
import { idsOf } from '../core/safe-id.js';
import type { JobEnd } from './job-end.js';
import {
  chunksOf,
  executeAll,
  Ids,
  rowChunks,
  type Statement,
  type Values,
  valuesLengthOf,
  type Work,
} from '../core/statement.js';

const ADD_EDGES = `
  INSERT INTO {edges} (job_id, needs, queue, name, on_failure, fan_out)
  VALUES :rows(?, ?, ?, ?, ?, ?)`;

// For a job that needs many others the server copies their queues and names.
const COPY_EDGES = `
  INSERT INTO {edges} (job_id, needs, queue, name, on_failure, fan_out)
  SELECT :jobId, id, queue, name, :onFailure, :fanOut
  FROM {jobs} {by primary}
  WHERE :ids`;

const MIN_COPY_SIZE = 8;
const MAX_STATEMENTS = 100;

const CLOSED_STATE = `CASE WHEN :outcome = 'completed' OR on_failure = 'run' THEN 'done' WHEN on_failure = 'wait' THEN 'open' ELSE 'failed' END`;

// Only open edges: a job that no longer waits keeps the end that it has waited for, if the other job ends once more.
const CLOSE = `
  UPDATE {edges} {by edges.needs}
  SET state = ${CLOSED_STATE}, outcome = :outcome, result = NULL, error = NULL
  WHERE :needs AND state = 'open'`;

/** @param column that of the values; the other one becomes NULL */
const CLOSE_WITH_VALUES = (column: 'result' | 'error', count: number) => {
  const values = Array.from({ length: count }, (_, n) => `WHEN :id${n} THEN :value${n}`).join(' ');
  return `
  UPDATE {edges} {by edges.needs}
  SET state = ${CLOSED_STATE}, outcome = :outcome, ${column} = CASE needs ${values} END,
      ${column === 'result' ? 'error' : 'result'} = NULL
  WHERE :needs AND state = 'open'`;
};

// The server compares each row with the ids in turn, so a longer list costs more for each row.
const MAX_VALUES = 50;

const STATES: Readonly<Record<string, FinalState>> = { complete: 'completed', dead: 'dead', cancel: 'cancelled' };

const NONE: readonly Statement[] = [];

/** A row of the edges: the waiting job, the other one with its queue and name, and what happens if that fails. */
export type EdgeRow = [jobId: number, needs: number, queue: string, name: string, onFailure: string, fanOut: number];

/** The transaction must have stored the jobs. */
export function* addEdges(rows: readonly EdgeRow[]): Work<void> {
  const single: EdgeRow[] = [];
  const copies: Statement[] = [];
  for (const group of groupBy(rows, ([jobId, , , , onFailure]) => `${jobId} ${onFailure}`).values()) {
    const [jobId, , , , onFailure, fanOut] = group[0]!;
    const ids = new Ids(group.map(([, needs]) => needs));
    if (group.length < MIN_COPY_SIZE) single.push(...group);
    else copies.push({ sql: COPY_EDGES, values: { jobId, onFailure, fanOut, ids } });
  }
  const inserts = rowChunks(single).map((chunk) => ({ sql: ADD_EDGES, values: { rows: chunk } }));
  for (const step of chunksOf([...inserts, ...copies], lengthOfEdges, MAX_STATEMENTS)) yield* executeAll(step);
}

function lengthOfEdges({ values: { rows, ids } }: Statement): number {
  if (ids instanceof Ids) return ids.inOrder.length * 10;
  return (rows as readonly EdgeRow[]).reduce((sum, row) => sum + valuesLengthOf(row), 0);
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
    return [jobId, ids[needs]!, queue, name, onFailure, 0];
  };
  const needed = new Set(edges.map(({ needs }) => needs));
  const last = jobs.flatMap((_, index) => (needed.has(index) ? [] : [rowOf(-flowId, index, 'run')]));
  const rows = edges.map(({ job, needs, onFailure }) => rowOf(ids[job]!, needs, onFailure));
  // In the order of the primary key.
  return [...last, ...rows].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

/** The statements that record the end of jobs of flows. They come after those that delete the jobs. */
export function closeEdges(ends: readonly JobEnd[]): readonly Statement[] {
  if (!ends.some(isEndInFlow)) return NONE;
  const ended = ends.filter(isEndInFlow).map(toClosedEdge);
  ended.sort((a, b) => a.id - b.id);
  const alike = groupBy(ended, ({ outcome, column, value }) => `${outcome} ${column} ${value !== null}`);
  return [...alike.values()].flatMap((group) =>
    group[0]!.value === null
      ? [{ sql: CLOSE, values: close(group) }]
      : chunksOf(group, ({ value }) => value!.length, MAX_VALUES).map(closeWithValues),
  );
}

/** What edges keep of the end of a job: its result, or the error that it has instead. */
interface ClosedEdge {
  readonly id: number;
  readonly outcome: FinalState;
  readonly column: 'result' | 'error';
  readonly value: string | null;
}

function toClosedEdge({ job: { id }, outcome }: JobEnd): ClosedEdge {
  const end = { id, outcome: STATES[outcome.kind]! };
  if (outcome.kind === 'complete' && outcome.result !== null)
    return { ...end, column: 'result', value: outcome.result };
  const error = 'error' in outcome && outcome.error;
  return { ...end, column: 'error', value: error ? JSON.stringify(error) : null };
}

function close(ended: readonly ClosedEdge[]): Values {
  return { outcome: ended[0]!.outcome, needs: new Ids(idsOf(ended), 'needs') };
}

function closeWithValues(ended: readonly ClosedEdge[]): Statement {
  const values: Record<string, Values[string]> = { ...close(ended) };
  ended.forEach(({ id, value }, n) => {
    values[`id${n}`] = id;
    values[`value${n}`] = value;
  });
  return { sql: CLOSE_WITH_VALUES(ended[0]!.column, ended.length), values };
}

function isEndInFlow({ job, outcome }: JobEnd): boolean {
  return job.overrides?.flow !== undefined && isFinalOutcome(outcome);
}
