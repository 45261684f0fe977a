import { describeReason } from '../../job/explain/describe-reason.js';
import type { JobExplanation } from '../../job/explain/job-reason.js';
import { jobFor } from './allowed.js';
import type { BoardAccess } from './board-access.js';
import type { BoardCall } from './board-call.js';

type Reason = JobExplanation['reasons'][number];

/** Why the job does not run. The page shows the end of a job by itself. */
export async function explainJob(call: BoardCall) {
  const job = await jobFor(call, 'read');
  const { reasons, ...about } = await call.admin.explain(job.id);
  const ofOthers = reasons.filter(({ reason }) => reason !== 'ended');
  const shown = await Promise.all(ofOthers.map((one) => withoutHiddenQueues(one, about, call.access)));
  return { reasons: shown };
}

/** Jobs and queues that the viewer may not read have no name in a reason. */
async function withoutHiddenQueues(
  one: Reason,
  job: Omit<JobExplanation, 'reasons'>,
  access: BoardAccess,
): Promise<Reason> {
  const { text: _text, ...reason } = one;
  const described = (changed: typeof reason): Reason => ({
    ...changed,
    text: describeReason(changed, { job, nowMs: 0 }),
  });
  if (reason.reason === 'blocked') {
    const needs = await access.filter(reason.needs);
    return needs.length === reason.needs.length ? one : described({ ...reason, needs, more: true });
  }
  const { suggestion = null } = reason.reason === 'no-worker' ? reason : {};
  if (reason.reason !== 'no-worker' || suggestion === null || (await access.allows('read', suggestion))) return one;
  return described({ ...reason, suggestion: null });
}
