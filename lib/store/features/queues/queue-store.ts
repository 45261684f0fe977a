import type { QueueSettingsRecord } from '../../../job/settings/queue-configuration.js';
import type { HeaderFilter, Subscription } from '../../../job/topics.js';
import type { Change } from '../audit/audit-store.js';
import type { CallerTransaction } from '../../core/caller-transaction.js';

/** The declaration of a queue by a worker that serves it. */
export interface DeclaredQueue {
  readonly queue: string;
  /** How long an unused, empty queue stays; null: it does not expire. */
  readonly expiresAfterMs: number | null;
  readonly subscriptions: readonly Subscription[];
}

/** A queue that gets copies of a topic's messages. */
export interface Subscriber {
  readonly queue: string;
  readonly where: HeaderFilter | null;
}

export interface SubscriptionRecord {
  queue: string;
  /** A topic, or with `*` at its end all topics with this prefix. */
  topic: string;
  /** The headers that a message must have, with one value or a list of them. Empty: every message matches. */
  where: Record<string, string | string[]>;
  /** True if another program has written an invalid filter. No message matches it. */
  isMalformed?: true;
  createdAt: Date;
}

export interface QueueRecord {
  queue: string;
  paused: boolean;
  /** How long a temporary queue stays while it is empty and unused, in milliseconds; null: it does not expire. */
  expiresAfterMs: number | null;
  /** The limit of active jobs that holds at present; null: none. */
  maxRunning: number | null;
  /** The rate that holds at present; null: none. */
  rate: { limit: number; perMs: number; burst: number; window: 'sliding' | 'fixed' } | null;
  /** How many jobs the rate lets start at the time of the read; null: no rate. */
  rateLeft: number | null;
  /** No job starts before this time; null: the queue does not rest. */
  restsUntil: Date | null;
  /** The settings of `configure`, `pause` and `limit`. A missing one is as in the options of each process. */
  settings: QueueSettingsRecord;
}

export interface QueueService {
  /** The queues that no worker has served within the last minute. Without those whose jobs people or other programs hold or end. */
  readonly unserved: readonly string[];
  /** All queues that a worker has served, or that an operator has configured. */
  readonly known: readonly string[];
  /** All queues of the workers that were seen within the last minute. */
  readonly served: readonly string[];
}

/** Stores the subscriptions of queues and the expiry of temporary queues. */
export interface QueueStore {
  /**
   * Stores the declarations of a worker and records that it uses the queues. Writes only differences. Returns the
   * stored subscriptions that are not declared. They stay, because another version of the program may need them.
   */
  declare(queues: readonly DeclaredQueue[]): Promise<SubscriptionRecord[]>;

  /** Records that these queues are in use. False: some are gone and must be declared again. */
  markUsed(queues: readonly string[]): Promise<boolean>;

  /**
   * Deletes temporary queues that were empty and unused for their expiry time, with their subscriptions. It never
   * deletes a job: a job that is enqueued at the same moment stays, and the next use restores its queue.
   */
  expire(): Promise<string[]>;

  /**
   * The subscriptions that match a topic. Includes every subscription that has committed before, even if the snapshot
   * of the caller's transaction is older.
   */
  subscribers(topic: string, transaction?: CallerTransaction): Promise<Subscriber[]>;

  /** Adds subscriptions and creates the queue if it does not exist. Replaces subscriptions to the same topics. */
  subscribe(queue: string, subscriptions: readonly Subscription[], change?: Change): Promise<void>;

  /** Deletes one subscription of a queue, or all, and returns their number. Copies in the queue stay. */
  unsubscribe(queue: string, topic?: string, change?: Change): Promise<number>;

  /** Reads which of the queues have a worker in any process. */
  readService(queues: readonly string[]): Promise<QueueService>;

  /** All subscriptions, by queue and topic. */
  subscriptions(): Promise<SubscriptionRecord[]>;
}
