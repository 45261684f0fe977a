import type { Clock } from '../../common/clock.js';
import type { JobLogger } from '../../common/logger.js';
import type { Outcome } from '../../job/outcome.js';
import type { ResolvedQueueOptions } from '../../job/queue-options.js';
import type { QueueEvents } from '../../listen/queue-events.js';
import type { Instrumentations } from '../../instrumentation/instrumentations.js';
import type { FlowStore } from '../../store/features/flows/flow-store.js';
import type { JobStore } from '../../store/verbs/job-store.js';
import type { StepStore } from '../../store/features/steps/step-store.js';
import type { JobLogWriter } from './job-log-writer.js';

/** The surroundings of the attempts of a queue. */
export interface AttemptParts {
  readonly workerId: string;
  readonly stores: { readonly jobs: JobStore; readonly steps: StepStore; readonly flows: FlowStore };
  readonly events: QueueEvents;
  readonly clock: Clock;
  readonly logger: JobLogger;
  readonly random: () => number;
  readonly optionsFor: (queue: string) => ResolvedQueueOptions;
  /** Called if a queue has further waiting jobs: one waits again, or a dead letter or a child of a job is new. */
  readonly announce: (queue: string, jobs: number) => void;
  /** Undefined if progress and logs of runs are not stored. */
  readonly jobLogWriter?: JobLogWriter | undefined;
  readonly instrumentations?: Pick<Instrumentations, 'ofProducers'>;
}

export interface AttemptEnd {
  readonly outcome: Outcome;
  readonly result: unknown;
  /** Completed in the handler's transaction, or handed off: the completer does not write the outcome. */
  readonly isDetached: boolean;
  /** The bearer of the token ends the job, so this attempt emits no outcome. */
  readonly isHandedOff: boolean;
}
