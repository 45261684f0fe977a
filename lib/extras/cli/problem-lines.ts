import { listProblems } from '../../admin/list-problems.js';
import type { Engine } from '../../engine/engine.js';
import type { QueueProblem } from '../../job/problems/queue-problem.js';
import type { QueueStats } from '../../store/features/stats/stats-store.js';
import { time } from './output.js';

const SIGNS: Readonly<Record<QueueProblem['severity'], string>> = { broken: '✗', attention: '!' };

/** @param stats from `readStats`, which also works for an account that may only read */
export function readProblems({ stores }: Engine, stats: readonly QueueStats[], queue?: string) {
  return listProblems(stores.admin, stats, queue);
}

/** The problem in one line. */
export function problemLine({ severity, message, since, isGettingWorse }: QueueProblem): string {
  const facts = [
    ...(since ? [`since ${time(since).slice(0, 'YYYY-MM-DD HH:MM'.length)} UTC`] : []),
    ...(isGettingWorse ? ['getting worse'] : []),
  ];
  return `${SIGNS[severity]} ${message}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`;
}

/** The problems with the commands that show more, or repair the queue. */
export function problemsText(problems: readonly QueueProblem[]): string {
  const lines = problems.flatMap((problem) => [
    problemLine(problem),
    ...problem.actions.map(({ command, args }) => `    nestjs-sql-queue ${[command, ...args].join(' ')}`),
  ]);
  return lines.join('\n') || 'No problems.';
}
