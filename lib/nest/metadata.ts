import type { ProcessorOptions } from '../job/processor-options.js';
import type { QueueEventName } from '../job/queue-event.js';

// Stable strings, so that decorators of one copy of the package are found by the explorer of another.
export const PROCESSOR = 'sql-queue:processor';
export const JOB_HANDLER = 'sql-queue:job-handler';
export const QUEUE_EVENT = 'sql-queue:event';

/** Nest's own key: only there it looks for pipes to make, and custom parameter decorators say there what they are. */
export const PARAMETERS = '__routeArguments__';

/** Where an application has several named instances of the module: which one is meant. */
export interface OfInstance {
  instance?: string;
}

export interface ProcessorMetadata extends OfInstance {
  queue: string;
  options: ProcessorOptions;
}

export interface JobHandlerMetadata {
  /** Undefined: all names that have no handler of their own. */
  name: string | undefined;
}

/** Whose events a listener hears: this process's, or those of all that share the database. */
export type EventOrigin = 'here' | 'anywhere';

export interface QueueEventMetadata extends OfInstance {
  event: QueueEventName;
  queue: string | undefined;
  from: EventOrigin;
}
