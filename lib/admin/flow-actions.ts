import { batchesOf } from '../common/lists.js';
import { InvalidOptionsError } from '../job/errors.js';
import { expected, unknownKeys, requireOptions } from '../job/expectation.js';
import type { FlowNode, FlowRecord } from '../job/flows/flow-record.js';
import { checkJobId, isWhole } from '../job/identifiers.js';
import type { AdminParts } from './admin-parts.js';
import { cancelAll } from './cancel-jobs.js';
import { retryJobs } from './retry-jobs.js';
import { ADMIN_BATCH_SIZE } from './job-selection.js';

/** Which jobs of a flow to change. */
export interface FlowSelection {
  /** The id of a job: it, and all jobs that wait for it, directly or not. Default: all jobs of the flow. */
  below?: number;
}

export function checkFlowId(id: unknown): void {
  InvalidOptionsError.throwIfAny('Invalid flow', [
    expected(isWhole(id, 1, Number.MAX_SAFE_INTEGER), 'the id of a flow', id),
  ]);
}

export async function cancelFlow(parts: AdminParts, flowId: number, selection: FlowSelection): Promise<number> {
  const selected = await select(parts, flowId, selection);
  const unfinished = selected.filter(({ state }) => ['waiting', 'scheduled', 'active', 'blocked'].includes(state));
  // The last jobs first, so that none of them runs because those before it have ended.
  const ids = unfinished.map(({ id }) => id).reverse();
  const call = { verb: 'cancelFlow', which: flowId, options: selection } as const;
  return parts.audit.record(call, async (changes) => {
    let count = 0;
    for (const batch of batchesOf(ids, ADMIN_BATCH_SIZE)) {
      const { ended, requested } = await cancelAll(parts, batch, changes);
      count += ended.length + requested.length;
    }
    return count;
  });
}

/** Starts the dead and cancelled ones of the selected jobs anew, each after those that it needs. */
export async function retryFlow(parts: AdminParts, flowId: number, selection: FlowSelection): Promise<number> {
  const selected = await select(parts, flowId, selection);
  const failed = selected.filter(({ state }) => state === 'dead' || state === 'cancelled').map(({ id }) => id);
  return retryJobs(parts, failed, {}, { verb: 'retryFlow', which: flowId, options: selection });
}

async function select({ flows }: AdminParts, flowId: number, given: FlowSelection): Promise<FlowNode[]> {
  checkFlowId(flowId);
  const { below, ...unknown } = requireOptions('Cannot select jobs of the flow', given);
  InvalidOptionsError.throwIfAny('Cannot select jobs of the flow', unknownKeys(unknown, ['below']));
  if (below !== undefined) checkJobId(below);
  const flow = await flows.read(flowId);
  if (!flow) return [];
  return below === undefined ? flow.jobs : jobsBelow(flow, below);
}

/** The jobs of a flow are in order, so one pass finds all that wait for the job. */
function jobsBelow({ id: flowId, jobs }: FlowRecord, below: number): FlowNode[] {
  InvalidOptionsError.throwIfAny('Cannot select jobs of the flow', [
    expected(
      jobs.some(({ id }) => id === below),
      `below to be the id of a job of flow ${flowId}`,
      below,
    ),
  ]);
  const selected = new Set([below]);
  return jobs.filter(({ id, needs }) => {
    if (needs.some((needed) => selected.has(needed.id))) selected.add(id);
    return selected.has(id);
  });
}
