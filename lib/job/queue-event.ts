import type { StoredError } from './stored-error.js';

/** What can happen to a job, in the order of a job's life. */
export const QUEUE_EVENTS = [
  'enqueued',
  'promoted',
  'claimed',
  'started',
  'completed',
  'failed',
  'dead',
  'released',
  'snoozed',
  'cancelled',
  'lost',
  'rescued',
  'retried',
  'removed',
] as const;

export type QueueEventName = (typeof QUEUE_EVENTS)[number];

/** Changes of what the database says of a job, which can be told to other processes. */
export type ChangeName = Exclude<QueueEventName, 'started' | 'lost'>;

/** Whether the database knows of it: that a run begins, or hears that its lease is lost, changes nothing there. */
export function isChange(event: QueueEventName): event is ChangeName {
  return event !== 'started' && event !== 'lost';
}

export interface QueueEvent {
  /**
   * `enqueued` its transaction has committed · `promoted` it is due · `claimed` a worker has it, or a person · `started` a
   * run began · `completed` · `failed` a run threw or timed out (the job is retried, or `dead` follows) · `dead` no further
   * attempt · `released` · `snoozed` · `cancelled` · `lost` the lease was lost, the run's outcome does not count · `rescued`
   * taken from a worker that fell silent · `retried` and `removed` by QueueAdmin.
   */
  readonly event: QueueEventName;
  readonly queue: string;
  readonly jobId: number;
  readonly name: string;
  readonly attempt: number;
  /** The owner who holds the job through QueueConsumer, or held it until now; null if none does. */
  readonly owner: string | null;
  /** How long the run took, in milliseconds; null where none ended. */
  readonly ranMs: number | null;
  /** What the handler returned, for `completed`. */
  readonly result?: unknown;
  /** For `failed`, `dead`, `lost` and `rescued`. */
  readonly error?: StoredError;
  /**
   * For `failed`, `snoozed` and `rescued`: when the job may run again, or its owner has it back, in milliseconds from then; 0 at
   * once.
   */
  readonly delayMs?: number;
  /** When, by the database's clock. Only where it is heard from anywhere. */
  readonly at?: Date;
}
