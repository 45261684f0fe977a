import type { HeaderFilter, Subscription } from '../job/topics.js';
import type { CallerTransaction } from './job-store.js';

/** What a worker says of one of its queues. */
export interface DeclaredQueue {
  readonly queue: string;
  /** How long the queue stays while it is empty and nobody uses it; null: for good. */
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
  /** With a `*` at its end: all that begin so. */
  topic: string;
  /** Empty: whatever the headers. */
  where: Record<string, string | string[]>;
  /** Another program has written a filter that cannot be understood: no message passes it. */
  isMalformed?: true;
  createdAt: Date;
}

/** What is known of queues besides their jobs: what they get copies of, and how long they stay. */
export interface QueueStore {
  /**
   * Notes what a worker says of its queues, and that it uses them. What is known already is not written again.
   * Subscriptions that it does not speak of stay, and are answered: another version of the program may live by them.
   */
  declare(queues: readonly DeclaredQueue[]): Promise<SubscriptionRecord[]>;

  /** Notes that these queues are in use. False: some are gone, and have to be declared again. */
  use(queues: readonly string[]): Promise<boolean>;

  /**
   * Removes temporary queues that are empty and were used by nobody for as long as they say, with their subscriptions;
   * answers their names. Never a job: one that is put in at the same moment stays, and its queue is back with the next use.
   */
  expire(): Promise<string[]>;

  /**
   * Who subscribes to a topic. Sees every subscription that was committed before, also where the caller's transaction
   * began earlier than that.
   */
  subscribers(topic: string, transaction?: CallerTransaction): Promise<Subscriber[]>;

  /** Adds subscriptions to a queue, which comes into being with them; those to the same topics are replaced. */
  subscribe(queue: string, subscriptions: readonly Subscription[]): Promise<void>;

  /** Ends one subscription of a queue, or all; answers how many there were. The copies it has stay. */
  unsubscribe(queue: string, topic?: string): Promise<number>;

  /** All of them, by queue and topic. */
  subscriptions(): Promise<SubscriptionRecord[]>;
}
