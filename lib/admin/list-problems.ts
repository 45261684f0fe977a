import { findProblems, suspectsOf } from '../job/problems/find-problems.js';
import type { QueueProblem } from '../job/problems/queue-problem.js';
import type { AdminStore } from '../store/admin/admin-store.js';
import type { QueueStats } from '../store/features/stats/stats-store.js';

/**
 * The problems of these queues.
 *
 * @param stats of these queues
 * @param queue only the problems of this queue. Undefined: those of all queues and workers
 */
export async function listProblems(
  store: Pick<AdminStore, 'problemFacts'>,
  stats: readonly QueueStats[],
  queue?: string,
): Promise<QueueProblem[]> {
  const facts = await store.problemFacts(suspectsOf(stats));
  const problems = findProblems({ ...facts, queues: stats });
  return queue === undefined ? problems : problems.filter((one) => one.queue === queue);
}
