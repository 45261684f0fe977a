import { withTimeout } from '../../common/abort.js';
import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { Clock } from '../../common/clock.js';
import type { Resolved } from '../../job/option-schema.js';
import type { QueueProblem } from '../../job/problems/queue-problem.js';
import { matchesAny } from '../../job/queue-pattern.js';
import type { PROBLEMS_OPTIONS } from './health-options.js';
import { degraded, down, up, type HealthStatus } from './health-status.js';

interface ProblemsParts {
  readonly admin: Pick<QueueAdmin, 'problems'>;
  readonly clock: Clock;
}

// Of the most urgent ones, so that the answer stays short.
const MAX_SHOWN = 20;
const MAX_AGE_MS = 15_000;

/** Whether queues are broken, by the rules of `QueueAdmin.problems`. */
export async function queueProblems(
  { admin, clock }: ProblemsParts,
  options: Resolved<typeof PROBLEMS_OPTIONS>,
): Promise<HealthStatus> {
  const { queues, timeout, down: downRules, degraded: degradedRules } = options;
  const reading = admin.problems({ maxAge: MAX_AGE_MS });
  let problems: QueueProblem[];
  try {
    if (!(await withTimeout(clock, timeout, reading))) return degraded({ reason: 'The problems did not come in time' });
    problems = await reading;
  } catch (error) {
    return degraded({ reason: `Cannot read the problems: ${(error as Error).message}` });
  }
  const counted = problems.filter(({ queue }) => queues === undefined || (queue !== null && matchesAny(queues, queue)));
  const isDown = ({ rule }: QueueProblem) => downRules.includes(rule);
  const isDegraded = (one: QueueProblem) =>
    degradedRules === undefined ? one.severity === 'broken' : degradedRules.includes(one.rule);
  const found = counted.filter((one) => isDown(one) || isDegraded(one));
  if (found.length === 0) return up({ problems: [] });
  const shown = found.slice(0, MAX_SHOWN).map(({ rule, queue, since, message }) => ({ rule, queue, since, message }));
  const facts = { problems: shown, reason: found.length === 1 ? '1 problem' : `${found.length} problems` };
  return found.some(isDown) ? down(facts) : degraded(facts);
}
