import {
  deleteFrom,
  executeAll,
  recordEvents,
  type JobEventSource,
  type Statement,
  type Work,
} from '../core/statement.js';
import type { Completion } from '../rows/completion.js';
import { fence, groupByClaim, isFinished, isShort, type FencedStatement } from '../rows/fence.js';
import { copyToHistory, writeHistory } from '../rows/history.js';
import { completionEvents } from '../rows/job-events.js';
import { enqueueDeadLetters } from './dead-letters.js';
import { closeEdges } from './edges.js';
import { isCompletion, type JobEnd } from './job-end.js';
import { returnJobs } from './return-jobs.js';
import { leaveStages } from './stages.js';
import { rememberResults } from './subject-blobs.js';
import { wakeGroups } from './wake-groups.js';

/** What the end of jobs does to one table of a feature. A hook that has nothing to do sends nothing. */
interface EndHook {
  /** Statements before those for claims and jobs, in the same step. */
  readonly beforeRows?: (ends: readonly JobEnd[]) => readonly Statement[];
  /** Statements after those for claims and jobs, in the same step. */
  readonly withRows?: (ends: readonly JobEnd[]) => readonly Statement[];
  /** Work after the fence, and before the history. */
  readonly beforeHistory?: (ends: readonly JobEnd[]) => Work<void>;
  /** Work after the history. */
  readonly afterHistory?: (ends: readonly JobEnd[]) => Work<void>;
}

/** In the order in which every transaction locks the tables. A feature that has to do with ends adds one line. */
const HOOKS: readonly EndHook[] = [
  { beforeRows: wakeGroups },
  { withRows: closeEdges },
  { withRows: rememberResults },
  { beforeHistory: enqueueDeadLetters },
  { afterHistory: leaveStages },
];

const DELETE_FINISHED = deleteFrom('jobs', ':ids AND claim_id = :claimId');

/**
 * A fenced statement matched fewer rows than it named: some claims are lost, or the cancellation of a job is requested.
 * The transaction must be rolled back.
 */
export class FenceError extends Error {}

interface EndOptions {
  /** The statements for the rows of the claims. Default: none, so that they stay unchanged. */
  readonly claims?: readonly FencedStatement[];
  /** Statements in place of those that delete the jobs by their ids and claims. */
  readonly deletions?: readonly Statement[];
  readonly events?: JobEventSource;
}

/** The way out of the queue: ends jobs, and returns those to their queues whose outcome is not final. */
export function* endJobs(
  ends: readonly JobEnd[],
  { claims = [], deletions, events = completionEvents(ends.filter(isCompletion)) }: EndOptions = {},
): Work<void> {
  yield* recordEvents(events);
  const { rows, kept } = endRows(ends);
  const fenced: FencedStatement[] = [
    ...HOOKS.flatMap(({ beforeRows }) => beforeRows?.(ends) ?? []),
    ...claims,
    ...(deletions ?? rows),
    ...HOOKS.flatMap(({ withRows }) => withRows?.(ends) ?? []),
  ];
  const answers = yield* executeAll(fenced);
  if (fenced.some((one, index) => isShort(one, answers[index]!))) throw new FenceError();
  for (const { beforeHistory } of HOOKS) if (beforeHistory) yield* beforeHistory(ends);
  // After the fence, because another worker may have written the history of a lost job already.
  yield* writeHistory(kept);
  for (const { afterHistory } of HOOKS) if (afterHistory) yield* afterHistory(ends);
}

/** The statements for the rows of the jobs, and those of the jobs whose history they do not write. */
function endRows(ends: readonly JobEnd[]): { rows: FencedStatement[]; kept: Completion[] } {
  const rows: FencedStatement[] = [];
  const kept: Completion[] = [];
  for (const [claimId, ofClaim] of groupByClaim(ends)) {
    const completions = ofClaim.filter(isCompletion);
    const finished = ofClaim.filter(isFinished);
    const { copies, others } = copyToHistory(claimId, completions.filter(isFinished));
    rows.push(...copies);
    kept.push(...others);
    if (finished.length > 0) rows.push(fence(DELETE_FINISHED, claimId, finished));
    rows.push(...returnJobs(claimId, completions));
  }
  return { rows, kept };
}
