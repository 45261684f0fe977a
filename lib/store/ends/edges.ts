import { batchesOf, groupBy } from '../../common/lists.js';
import type { NewFlow, OnFailure } from '../../job/flows/flow.js';
import type { NewJob } from '../../job/job.js';
import { isFinalOutcome } from '../../job/outcome.js';
import type { FinalState } from '../../job/job-state.js';
import { idsOf } from '../../job/identifiers.js';
import type { JobEnd } from '../rows/completion.js';
import {
  chunksOf,
  executeAll,
  Ids,
  rowChunks,
  type Rows,
  type SqlValue,
  type Statement,
  type Values,
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
// SQLite accepts about 32,000 values per statement.
const MAX_COPY_SIZE = 5_000;
const MAX_STATEMENTS = 100;
// Longer than a row can be, so that a step, which one turn of the event loop prepares, has at most 1,000 of them.
const MAX_EDGE_LENGTH = 500;

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

/** Jobs that one job waits for in the same way. A flow waits for its last jobs, with its negative id. */
export interface EdgeGroup {
  readonly jobId: number;
  /** Positions in the list of stored jobs. */
  readonly needs: readonly number[];
  readonly onFailure: string;
  readonly fanOut: number;
}

/** Jobs that the transaction must have stored, with their ids. */
export interface NeededJobs {
  readonly jobs: readonly Pick<NewJob, 'queue' | 'name'>[];
  readonly ids: readonly number[];
}

export function* addEdges(groups: Iterable<EdgeGroup>, needed: NeededJobs): Work<void> {
  const steps = chunksOf(edgeStatements(groups, needed), lengthOfEdges, MAX_STATEMENTS);
  for (const step of steps) yield* executeAll(step);
}

/** The copies come after the inserts, so that these share statements. */
function* edgeStatements(groups: Iterable<EdgeGroup>, needed: NeededJobs): Generator<Statement> {
  const copies: Statement[] = [];
  for (const rows of rowChunks(singleRows(groups, needed, copies))) yield { sql: ADD_EDGES, values: { rows } };
  yield* copies;
}

/** The rows of small groups. Adds a statement to `copies` for each large one. */
function* singleRows(
  groups: Iterable<EdgeGroup>,
  { jobs, ids }: NeededJobs,
  copies: Statement[],
): Generator<SqlValue[]> {
  for (const { jobId, needs, onFailure, fanOut } of groups) {
    if (needs.length < MIN_COPY_SIZE) {
      for (const index of needs) yield [jobId, ids[index]!, jobs[index]!.queue, jobs[index]!.name, onFailure, fanOut];
      continue;
    }
    for (const some of batchesOf(needs, MAX_COPY_SIZE)) {
      const values = { jobId, onFailure, fanOut, ids: new Ids(some.map((index) => ids[index]!)) };
      copies.push({ sql: COPY_EDGES, values });
    }
  }
}

function lengthOfEdges({ values: { rows, ids } }: Statement): number {
  return ids instanceof Ids ? ids.inOrder.length * 10 : (rows as Rows).length * MAX_EDGE_LENGTH;
}

/**
 * The edges of a flow, about in the order of the primary key. If no job waits for a job, the flow itself does.
 *
 * @param edges in the order of the jobs that wait
 */
export function* edgeGroups(flowId: number, { jobs, edges }: NewFlow, ids: readonly number[]): Generator<EdgeGroup> {
  const isNeeded = new Uint8Array(jobs.length);
  for (const { needs } of edges) isNeeded[needs] = 1;
  const last = [...jobs.keys()].filter((index) => isNeeded[index] === 0);
  yield { jobId: -flowId, needs: last, onFailure: 'run', fanOut: 0 };
  for (let next = 0; next < edges.length;) {
    const { job } = edges[next]!;
    const alike = new Map<OnFailure, number[]>();
    for (; next < edges.length && edges[next]!.job === job; next++) {
      const { needs, onFailure } = edges[next]!;
      const group = alike.get(onFailure);
      if (group) group.push(needs);
      else alike.set(onFailure, [needs]);
    }
    for (const [onFailure, needs] of alike) yield { jobId: ids[job]!, needs, onFailure, fanOut: 0 };
  }
}

/** The statements that record the end of jobs of flows. They come after those that delete the jobs. */
export function closeEdges(ends: readonly JobEnd[]): readonly Statement[] {
  const ended = ends.filter(({ outcome }) => isFinalOutcome(outcome)).map(toClosedEdge);
  ended.sort((a, b) => a.id - b.id);
  const alike = groupBy(ended, ({ outcome, column, value }) => `${outcome} ${column} ${value !== null}`);
  return [...alike.values()].flatMap((group) =>
    group[0]!.value === null
      ? [{ sql: CLOSE, values: close(group) }]
      : Array.from(
          chunksOf(group, ({ value }) => value!.length, MAX_VALUES),
          closeWithValues,
        ),
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
