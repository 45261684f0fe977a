import type { StoredError } from './stored-error.js';

/** The events of a job, in the order of its life. Those of administrators stand last. */
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
  'blocked',
  'cancelled',
  'lost',
  'rescued',
  'retried',
  'removed',
] as const;

export type QueueEventName = (typeof QUEUE_EVENTS)[number];

/** Events without a change of a row, which no other process receives, and the nearest event that all receive. */
const EVENTS_OF_ONE_PROCESS = { started: 'claimed', lost: 'rescued' } as const;

/** The events that change a row, which other processes can receive. */
export type JobEventName = Exclude<QueueEventName, keyof typeof EVENTS_OF_ONE_PROCESS>;

/** The event that other processes receive, instead of one that they do not. */
export function storedEventOf(event: QueueEventName): JobEventName {
  return event in EVENTS_OF_ONE_PROCESS
    ? EVENTS_OF_ONE_PROCESS[event as keyof typeof EVENTS_OF_ONE_PROCESS]
    : (event as JobEventName);
}

/** Events of changes without a claim. */
export type ChangeEvent = 'enqueued' | 'promoted' | 'released' | 'cancelled' | 'retried' | 'removed';

/** A job whose row was changed without a claim. */
export interface ChangedJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly attempt?: number;
  readonly owner?: string | null;
}

export interface QueueEvent {
  /**
   * `enqueued`: its transaction has committed · `promoted`: a scheduled job is due, or a blocked one is free ·
   * `claimed`: by a worker or a person · `started`: a run started · `completed` · `failed`: a run threw or timed out (the
   * job is retried, or `dead` follows) · `dead`: no further attempt · `released` · `snoozed` · `blocked`: it waits for its
   * children · `cancelled` · `lost`: the lease was lost, and the outcome of the run does not count · `rescued`: from a
   * claim whose lease expired · `retried` and `removed`: by QueueAdmin.
   */
  readonly event: QueueEventName;
  readonly queue: string;
  readonly jobId: number;
  readonly name: string;
  readonly attempt: number;
  /** The owner that holds the job through QueueConsumer, or held it until this event; null without an owner. */
  readonly owner: string | null;
  /** The duration of the run in milliseconds; null if the event ends no run. */
  readonly ranMs: number | null;
  /** The return value of the handler; for `completed`. */
  readonly result?: unknown;
  /** For `failed`, `dead`, `lost` and `rescued`. */
  readonly error?: StoredError;
  /**
   * Milliseconds until the job can run again, or until its owner has it back; 0 at once. For `failed`, `snoozed` and
   * `rescued`.
   */
  readonly delayMs?: number;
  /** The time of the event by the clock of the database. Only for listeners with `from: 'anywhere'`. */
  readonly at?: Date;
}
