import type { EntityManager } from 'typeorm';
import type { JobLogger } from '../../common/logger.js';
import { UnrecoverableError } from '../../job/errors.js';
import type { Outcome } from '../../job/outcome.js';
import { toDelay, type SnoozeUntil } from '../../job/snooze.js';
import { storedError } from '../../job/stored-error.js';
import type { JobCalls } from './job-calls.js';
import type { JobChildren } from './job-children.js';
import type { JobSteps } from './job-steps.js';

/** A job that a handler has handed off. `QueueConsumer` ends it by id and token, in any process. */
export interface HandedOffJob {
  readonly id: number;
  readonly token: string;
}

/** What a handler can do with its job, through the context of the job. */
export interface HandlerActions {
  readonly signal: AbortSignal;
  readonly logger: JobLogger;
  readonly calls: Pick<JobCalls, 'start'>;
  readonly steps: Pick<JobSteps, 'run' | 'runInTransaction' | 'sleep' | 'waitForSignal'>;
  readonly children: Pick<JobChildren, 'read' | 'fanOut'>;
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;
  handOff(leaseMs: number): Promise<HandedOffJob>;
  stepKey(name: string): string;
  progress(value: unknown): void;
  log(line: string): void;
  /** Sets the outcome, so that it applies even if the handler or an exception filter catches the HandlerExit. */
  decide(outcome: HandlerOutcome): void;
}

export type HandlerOutcome =
  Outcome | { kind: 'snooze until' | 'rest until'; until: SnoozeUntil } | { kind: 'discard'; reason: string };

export function toOutcome(decided: HandlerOutcome, nowMs: number): Outcome {
  switch (decided.kind) {
    case 'snooze until':
      return { kind: 'snooze', ...toDelay(decided.until, nowMs) };
    case 'rest until':
      return { kind: 'release', rest: toDelay(decided.until, nowMs) };
    case 'discard':
      return { kind: 'dead', error: storedError(new UnrecoverableError(decided.reason)) };
    default:
      return decided;
  }
}

/** Thrown by `release()`, `snooze()` and `discard()` to leave the handler. Do not catch it. */
export class HandlerExit extends Error {
  override readonly name = 'HandlerExit';
}
