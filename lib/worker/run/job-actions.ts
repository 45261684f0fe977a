import type { EntityManager } from 'typeorm';
import type { JobLogger } from '../../common/job-logger.js';
import type { Outcome } from '../../job/outcome.js';
import type { JobSchedule } from '../../job/schedules/schedule.js';
import type { SnoozeUntil } from '../../job/snooze.js';
import type { ChildActions } from './job-children.js';
import type { StepActions } from './job-steps.js';

/** A job that a handler has handed off. `QueueConsumer` ends it by id and token, in any process. */
export interface HandedOffJob {
  readonly id: number;
  readonly token: string;
}

export interface JobContextFields<P> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: P;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly startedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly schedule: JobSchedule | undefined;
  readonly group: string | null;
  readonly logger: JobLogger;
}

export interface JobActions {
  readonly signal: AbortSignal;
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;
  handOff(leaseMs: number): Promise<HandedOffJob>;
  progress(value: unknown): void;
  log(line: string): void;
  readonly steps: StepActions;
  readonly children: ChildActions;
  /** Sets the outcome, so that it applies even if the handler or an exception filter catches the HandlerExit. */
  decide(outcome: HandlerOutcome): void;
}

export type HandlerOutcome =
  Outcome | { kind: 'snooze until' | 'rest until'; until: SnoozeUntil } | { kind: 'discard'; reason: string };

/** Thrown by `release()`, `snooze()` and `discard()` to leave the handler. Do not catch it. */
export class HandlerExit extends Error {
  override readonly name = 'HandlerExit';
}
