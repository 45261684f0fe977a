import type { ProcessorOptions } from '../job/processor-options.js';
import type { QueueEventName } from '../job/queue-event.js';

// Strings, not symbols, so that the explorer of one copy of the package finds the decorators of another copy.
export const PROCESSOR = 'sql-queue:processor';
export const JOB_HANDLER = 'sql-queue:job-handler';
export const QUEUE_EVENT = 'sql-queue:event';

/** The metadata key of Nest for parameters. Nest creates pipes, and reads custom parameter decorators, from this key only. */
export const PARAMETERS = '__routeArguments__';

export interface InstanceOptions {
  /** The `name` of the module instance. Default: the instance without a name. */
  instance?: string;
}

export interface ProcessorMetadata extends InstanceOptions {
  queue: string;
  options: ProcessorOptions;
}

export interface JobHandlerMetadata {
  /** Undefined: all names that have no handler of their own. */
  name: string | undefined;
}

/** `here`: events of this process. `anywhere`: events of all processes that share the database. */
export type EventOrigin = 'here' | 'anywhere';

export interface QueueEventMetadata extends InstanceOptions {
  event: QueueEventName;
  queue: string | undefined;
  from: EventOrigin;
}
