import { isTurnLong } from '../../../common/turn.js';
import type { FlowChild, FlowNode, FlowRecord } from '../../../job/flows/flow-record.js';
import { isFinalState, type FinalState, type JobState } from '../../../job/job-state.js';
import { readError } from '../../../job/read-columns.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import { NEXT_TURN, query, queryInBatches, type Work } from '../../core/statement.js';
import { readStates } from '../../reads/job-states.js';
import type { TableRow } from '../../tables/table-schemas.js';

const FLOW = `
  SELECT created_at
  FROM {flows}
  WHERE id = :id`;

const CHILDREN = `
  SELECT needs, queue, name, outcome, result, error
  FROM {edges} {by primary}
  WHERE job_id = :jobId AND needs > :after AND fan_out <= :fanOuts
  ORDER BY needs
  LIMIT :limit`;

// One statement, so that it reads one state of the database. A failed edge counts: it cancels the job once it is blocked.
const MUST_WAIT = `
  SELECT CASE WHEN EXISTS (SELECT 1 FROM {steps} WHERE job_id = :jobId AND name = :step)
               AND NOT EXISTS (
                 SELECT 1 FROM {edges} {by primary} WHERE job_id = :jobId AND state IN ('open', 'failed')
               )
              THEN 0 ELSE 1 END AS must_wait`;

const EDGES_OF = `
  SELECT job_id, needs, queue, name, on_failure, outcome
  FROM {edges} {by primary}
  WHERE job_id IN (:ids)`;

const BATCH_SIZE = 500;
// The largest number that the column can have.
const ALL = 2 ** 31 - 1;

export function* readChildren(jobId: number, after: number, limit: number, fanOuts = ALL): Work<FlowChild[]> {
  const rows = yield* query<TableRow<'edges'>>(CHILDREN, { jobId, after, limit, fanOuts });
  return rows.map(({ needs, queue, name, outcome, result, error }) => ({
    ...{ id: Number(needs), queue, name, state: toFinalState(outcome) },
    ...{ result: parseJsonOrNull(result), error: readError(error) },
  }));
}

export function* mustWait(jobId: number, step: string): Work<boolean> {
  const [row] = yield* query<{ must_wait: number }>(MUST_WAIT, { jobId, step });
  return Number(row!.must_wait) === 1;
}

export function* readFlow(id: number): Work<FlowRecord | null> {
  const [flow] = yield* query<{ created_at: number }>(FLOW, { id });
  if (!flow) return null;
  const jobs = yield* readNodes(id);
  const states = yield* readStates([...jobs.keys()]);
  for (const [jobId, job] of jobs) {
    job.state = states.get(jobId)?.state ?? job.state;
    if (isTurnLong()) yield NEXT_TURN;
  }
  return { id, createdAt: new Date(Number(flow.created_at)), jobs: yield* inOrder(jobs) };
}

/** The ids of the jobs of the flow. Each can be reached from the end of the flow by jobs that come before it. */
export function* readJobIds(flowId: number): Work<number[]> {
  return [...(yield* readNodes(flowId)).keys()];
}

/** Reads from the last jobs of the flow to the first ones, one level after the other. */
function* readNodes(flowId: number): Work<Map<number, FlowNode>> {
  const nodes = new Map<number, FlowNode>();
  let level = [-flowId];
  while (level.length > 0) {
    const next: number[] = [];
    for (const edge of yield* queryInBatches<TableRow<'edges'>>(EDGES_OF, level, BATCH_SIZE)) {
      if (isTurnLong()) yield NEXT_TURN;
      const state = toFinalState(edge.outcome);
      const needs = Number(edge.needs);
      nodes.get(Number(edge.job_id))?.needs.push({ id: needs, onFailure: edge.on_failure, state });
      if (nodes.has(needs)) continue;
      nodes.set(needs, { id: needs, queue: edge.queue, name: edge.name, state: state ?? 'removed', needs: [] });
      next.push(needs);
    }
    level = next;
  }
  return nodes;
}

/** Each job after those that it needs. */
function* inOrder(nodes: ReadonlyMap<number, FlowNode>): Work<FlowNode[]> {
  const dependents = new Map<number, FlowNode[]>();
  const open = new Map<FlowNode, number>();
  for (const node of nodes.values()) {
    open.set(node, node.needs.length);
    for (const { id } of node.needs) {
      const ofNeeded = dependents.get(id);
      if (ofNeeded) ofNeeded.push(node);
      else dependents.set(id, [node]);
      if (isTurnLong()) yield NEXT_TURN;
    }
  }
  const sorted = [...nodes.values()].filter(({ needs }) => needs.length === 0).sort((a, b) => a.id - b.id);
  for (const { id } of sorted) {
    for (const dependent of dependents.get(id) ?? []) {
      const left = open.get(dependent)! - 1;
      open.set(dependent, left);
      if (left === 0) sorted.push(dependent);
      if (isTurnLong()) yield NEXT_TURN;
    }
  }
  return sorted;
}

export function toFinalState(outcome: string): FinalState | null {
  return isFinalState(outcome as JobState) ? (outcome as FinalState) : null;
}
