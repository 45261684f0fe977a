import { JobNotFoundError } from '../job/errors.js';
import { describeReason } from '../job/explain/describe-reason.js';
import { findReasons } from '../job/explain/find-reasons.js';
import type { JobExplanation } from '../job/explain/job-reason.js';
import { DEFAULT_GROUP_RULES } from '../job/groups/group-options.js';
import { checkJobId } from '../job/identifiers.js';
import { isFinalState } from '../job/job-state.js';
import type { AdminParts } from './admin-parts.js';

export async function explainJob(parts: AdminParts, id: number): Promise<JobExplanation> {
  checkJobId(id);
  const { store, clock, ownQueues, optionsFor } = parts;
  const facts = await store.facts(id, (queue) => optionsFor(queue).order);
  if (!facts) throw new JobNotFoundError(id);
  const { queue, name, state } = facts.job;
  const own = {
    nowMs: clock.now().getTime(),
    hasHandlers: ownQueues.hasHandler(queue),
    worksQueue: ownQueues.isWorked(queue),
    handlesName: ownQueues.hasHandler(queue, name),
    closedBy: ownQueues.closedBy(queue),
    groups: optionsFor(queue).groups ?? DEFAULT_GROUP_RULES,
  };
  // It decodes the error of a finished job.
  const error = isFinalState(state) ? ((await store.get(id))?.error ?? null) : null;
  const reasons = findReasons(facts, own, error);
  return { id, queue, name, state, reasons: reasons.map((one) => ({ ...one, text: describeReason(one, facts) })) };
}
