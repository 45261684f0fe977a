import type { NewFlow, OnFailure } from '../../../job/flows/flow.js';
import type { NewJob } from '../../../job/job.js';
import { jobOverridesOf } from '../../../job/read-columns.js';
import { execute, executeAll, type Work } from '../../core/statement.js';
import { enterJobs } from '../../ends/enter-jobs.js';
import { CHECK_INTERVAL_MS } from '../../rows/expiry.js';
import { addStep, lockStep, type OwnerRow } from '../steps/owned-step.js';
import type { StepOwner } from '../steps/step-store.js';
import { addEdges, edgeGroups, type EdgeGroup } from '../../ends/edges.js';
import type { StoredFanOut, StoredFlow } from './flow-store.js';

const ADD_FLOW = `
  INSERT INTO {flows} (created_at, expires_at)
  VALUES (:now, :now + ${CHECK_INTERVAL_MS})`;

const JOIN_FLOW = `
  UPDATE {jobs} {by primary}
  SET options = :options
  WHERE id = :jobId`;

export function* createFlow(flow: NewFlow): Work<StoredFlow> {
  const id = yield* addFlow();
  const blocked = new Set(flow.edges.map(({ job }) => job));
  const jobIds = yield* enterJobs(flow.jobs, (job, index) => inFlow(job, id, blocked.has(index)));
  yield* addEdges(edgeGroups(id, flow, jobIds), { jobs: flow.jobs, ids: jobIds });
  return { id, jobIds };
}

/** See FlowStore.fanOut. */
export function* fanOut(
  owner: StepOwner,
  step: string,
  jobs: readonly NewJob[],
  onFailure: OnFailure,
  fanOutNumber = 1,
): Work<StoredFanOut | undefined> {
  const { jobId } = owner;
  const { owner: parent, stored } = yield* lockStep(owner, step);
  if (!parent) return undefined;
  const before = { ids: [], flow: jobOverridesOf(parent.options).flow };
  if (stored) return before;
  const added = jobs.length === 0 ? before : yield* addChildren(jobId, parent, jobs, onFailure, fanOutNumber);
  yield* executeAll([addStep(jobId, step, { state: 'done', signal: null })]);
  return added;
}

function* addChildren(
  jobId: number,
  parent: OwnerRow,
  jobs: readonly NewJob[],
  onFailure: OnFailure,
  fanOutNumber: number,
): Work<StoredFanOut> {
  const { id: flowId, isNew } = yield* flowOf(jobId, parent);
  const ids = yield* enterJobs(jobs, (job) => inFlow(job, flowId, false));
  const groups: EdgeGroup[] = [{ jobId, needs: [...jobs.keys()], onFailure, fanOut: fanOutNumber }];
  // A new flow waits for the job that has joined it.
  if (isNew) groups.unshift({ jobId: -flowId, needs: [jobs.length], onFailure: 'run', fanOut: 0 });
  yield* addEdges(groups, { jobs: [...jobs, parent], ids: [...ids, jobId] });
  return { ids, flow: flowId };
}

/** The flow of the job. If it is in none, a new one. */
function* flowOf(jobId: number, parent: OwnerRow): Work<{ id: number; isNew: boolean }> {
  const overrides = jobOverridesOf(parent.options);
  if (overrides.flow !== undefined) return { id: overrides.flow, isNew: false };
  const id = yield* addFlow();
  yield* execute(JOIN_FLOW, { jobId, options: JSON.stringify({ ...overrides, flow: id }) });
  return { id, isNew: true };
}

function* addFlow(): Work<number> {
  const [added] = yield* executeAll([{ sql: ADD_FLOW, values: {} }]);
  return added!.insertId;
}

/** A blocked job keeps its delay for the time when it is unblocked. */
function inFlow(job: NewJob, flow: number, isBlocked: boolean): NewJob {
  const delay = {
    ...(isBlocked && job.delayMs !== null && { delayMs: job.delayMs }),
    ...(isBlocked && job.runAtMs !== null && { runAtMs: job.runAtMs }),
  };
  // The text of the overrides is JSON already, and most flows have many equal ones.
  const added = JSON.stringify({ ...delay, flow });
  const overrides = job.overrides === null ? added : `${job.overrides.slice(0, -1)},${added.slice(1)}`;
  if (!isBlocked) return { ...job, overrides };
  return { ...job, overrides, isBlocked, delayMs: null, runAtMs: null };
}
