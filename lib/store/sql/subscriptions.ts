import type { HeaderFilter, Subscription } from '../../job/topics.js';
import { isHeaderFilter, patternsOf } from '../../job/topics.js';
import type { Subscriber, SubscriptionRecord } from '../queue-store.js';
import { isName } from '../../job/job-names.js';
import { parseOr } from './claimed-row.js';
import { change, query, type Work } from './statement.js';

// A topic has a hundred beginnings at most: each is looked up, however many subscriptions there are.
const SUBSCRIBERS = `
  SELECT queue, headers
  FROM {subscriptions}
  WHERE topic IN (:patterns)
  ORDER BY queue`;

const ALL = `
  SELECT queue, topic, headers, created_at
  FROM {subscriptions}
  ORDER BY queue, topic`;

const OF_QUEUES = `
  SELECT queue, topic, headers, created_at
  FROM {subscriptions}
  WHERE queue IN (:queues)
  ORDER BY queue, topic`;

const ADD = `
  INSERT INTO {subscriptions} (queue, topic, headers, created_at)
  VALUES (:queue, :topic, :headers, :now)`;

const CHANGE = `
  UPDATE {subscriptions} /*! FORCE INDEX (PRIMARY) */
  SET headers = :headers
  WHERE queue = :queue AND topic = :topic`;

const END = `
  DELETE /*! {subscriptions} */ FROM {subscriptions} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue AND topic = :topic`;

const END_ALL = `
  DELETE /*! {subscriptions} */ FROM {subscriptions} /*! FORCE INDEX (PRIMARY) */
  WHERE queue = :queue`;

interface SubscriptionRow {
  queue: string;
  topic: string;
  headers: string | null;
  created_at: number;
}

export function* subscribers(topic: string): Work<Subscriber[]> {
  const rows = yield* query<Pick<SubscriptionRow, 'queue' | 'headers'>>(SUBSCRIBERS, { patterns: patternsOf(topic) });
  // A filter that cannot be understood lets no message through: which ones it meant is not known. No worker can have a queue
  // whose name is none.
  return rows.flatMap(({ queue, headers }) => {
    const where = parsed(headers);
    return where === undefined || !isName(queue) ? [] : { queue, where };
  });
}

export function* subscriptions(): Work<SubscriptionRecord[]> {
  return (yield* query<SubscriptionRow>(ALL)).map(record);
}

export function* subscriptionsOfQueues(queues: readonly string[]): Work<SubscriptionRecord[]> {
  return queues.length === 0 ? [] : (yield* query<SubscriptionRow>(OF_QUEUES, { queues })).map(record);
}

/** What differs from what there is. The queue's row is locked, so that nobody else adds to it meanwhile. */
export function* addSubscriptions(queue: string, wanted: readonly Subscription[]): Work<void> {
  if (wanted.length === 0) return;
  const known = yield* subscriptionsOfQueues([queue]);
  for (const { topic, where } of wanted) {
    const there = known.find((one) => one.topic === topic);
    if (there && isSame(there, where)) continue;
    yield* change(there ? CHANGE : ADD, { queue, topic, headers: where && JSON.stringify(where) });
  }
}

/** Whether it is among the known ones, as it is wanted. */
export function isKnown(known: readonly SubscriptionRecord[], queue: string, { topic, where }: Subscription): boolean {
  return known.some((one) => one.queue === queue && one.topic === topic && isSame(one, where));
}

export function* endSubscriptions(queue: string, topic?: string): Work<number> {
  return yield* topic === undefined ? change(END_ALL, { queue }) : change(END, { queue, topic });
}

function isSame(known: SubscriptionRecord, where: HeaderFilter | null): boolean {
  return !known.isMalformed && JSON.stringify(known.where) === JSON.stringify(where ?? {});
}

function record({ queue, topic, headers, created_at }: SubscriptionRow): SubscriptionRecord {
  const where = parsed(headers);
  const isMalformed = where === undefined;
  return {
    queue,
    topic,
    where: where ?? {},
    createdAt: new Date(Number(created_at)),
    ...(isMalformed && { isMalformed }),
  };
}

/** Null: every message; undefined: another program has written what is no filter. */
function parsed(headers: string | null): Record<string, string | string[]> | null | undefined {
  if (headers === null) return null;
  const where = parseOr<unknown>(headers);
  return isHeaderFilter(where) ? (where as Record<string, string | string[]>) : undefined;
}
