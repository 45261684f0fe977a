import type { JobLogger } from '../../common/job-logger.js';
import type { Outcome } from '../../job/outcome.js';
import type { SnoozeUntil } from '../../job/snooze.js';
import type { Attempt } from './attempt.js';
import type { JobChildren } from './job-children.js';
import type { JobContext } from './job-context.js';
import type { JobSteps } from './job-steps.js';

/** A job that a handler has handed off. `QueueConsumer` ends it by id and token, in any process. */
export interface HandedOffJob {
  readonly id: number;
  readonly token: string;
}

export type JobContextFields<P> = Pick<
  JobContext<P>,
  | ('id' | 'queue' | 'name' | 'payload' | 'attempt' | 'maxAttempts')
  | ('createdAt' | 'startedAt' | 'headers' | 'schedule' | 'group')
>;

/** The part of an attempt that the context of its job uses. */
export type HandlerActions = Pick<Attempt, 'signal' | 'transaction' | 'handOff' | 'progress' | 'log' | 'decide'> & {
  readonly logger: JobLogger;
  readonly steps: Pick<JobSteps, 'run' | 'runInTransaction' | 'sleep' | 'waitForSignal'>;
  readonly children: Pick<JobChildren, 'read' | 'fanOut'>;
};

export type HandlerOutcome =
  Outcome | { kind: 'snooze until' | 'rest until'; until: SnoozeUntil } | { kind: 'discard'; reason: string };

/** Thrown by `release()`, `snooze()` and `discard()` to leave the handler. Do not catch it. */
export class HandlerExit extends Error {
  override readonly name = 'HandlerExit';
}
