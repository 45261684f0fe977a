import { isHeaderFilter, patternsOf, type HeaderFilter, type Subscription } from '../../../job/topics.js';
import type { Subscriber, SubscriptionRecord } from './queue-store.js';
import { isName } from '../../../job/identifiers.js';
import { parseJsonOrNull } from '../../core/parse-json.js';
import { deleteFrom, execute, query, type Work } from '../../core/statement.js';

// Looks up the topic and each of its prefixes, 102 at most, so the cost does not depend on the number of subscriptions.
const SUBSCRIBERS = `
  SELECT queue, header_filter
  FROM {subscriptions}
  WHERE topic IN (:patterns)
  ORDER BY queue`;

const select = (where: string) => `
  SELECT queue, topic, header_filter, created_at
  FROM {subscriptions} ${where}
  ORDER BY queue, topic`;

const ALL = select('');
const OF_QUEUES = select('WHERE queue IN (:queues)');

// Without a read: in the snapshot of a caller's transaction, a subscription may exist that is deleted now, or be missing.
const PUT = `
  INSERT INTO {subscriptions} (queue, topic, header_filter, created_at)
  VALUES (:queue, :topic, :filter, :now)
  {on duplicate queue, topic} header_filter = {given header_filter}`;

const DELETE = deleteFrom('subscriptions', 'queue = :queue AND topic = :topic');
const DELETE_ALL = deleteFrom('subscriptions', 'queue = :queue');

interface SubscriptionRow {
  queue: string;
  topic: string;
  header_filter: string | null;
  created_at: number;
}

export function* findSubscribers(topic: string): Work<Subscriber[]> {
  const rows = yield* query<Pick<SubscriptionRow, 'queue' | 'header_filter'>>(SUBSCRIBERS, {
    patterns: patternsOf(topic),
  });
  // An invalid filter matches no message, because its meaning is unknown. No worker can serve a queue with an invalid
  // name.
  return rows.flatMap(({ queue, header_filter }) => {
    const where = parseFilter(header_filter);
    return where === undefined || !isName(queue) ? [] : { queue, where };
  });
}

export function* listSubscriptions(): Work<SubscriptionRecord[]> {
  return (yield* query<SubscriptionRow>(ALL)).map(toSubscriptionRecord);
}

export function* subscriptionsOfQueues(queues: readonly string[]): Work<SubscriptionRecord[]> {
  return queues.length === 0 ? [] : (yield* query<SubscriptionRow>(OF_QUEUES, { queues })).map(toSubscriptionRecord);
}

/** Adds the subscriptions to those of the queue. One to the same topic is replaced. */
export function* addSubscriptions(queue: string, subscriptions: readonly Subscription[]): Work<void> {
  for (const { topic, where } of subscriptions)
    yield* execute(PUT, { queue, topic, filter: where && JSON.stringify(where) });
}

/** @param known the stored subscriptions of the queue */
export function isKnown(known: readonly SubscriptionRecord[], { topic, where }: Subscription): boolean {
  return known.some((record) => record.topic === topic && isSame(record, where));
}

export function* deleteSubscriptions(queue: string, topic?: string): Work<number> {
  return yield* topic === undefined ? execute(DELETE_ALL, { queue }) : execute(DELETE, { queue, topic });
}

function isSame(known: SubscriptionRecord, where: HeaderFilter | null): boolean {
  return !known.isMalformed && JSON.stringify(known.where) === JSON.stringify(where ?? {});
}

function toSubscriptionRecord({ queue, topic, header_filter, created_at }: SubscriptionRow): SubscriptionRecord {
  const where = parseFilter(header_filter);
  const isMalformed = where === undefined;
  return {
    queue,
    topic,
    where: where ?? {},
    createdAt: new Date(Number(created_at)),
    ...(isMalformed && { isMalformed }),
  };
}

/** Null: every message matches; undefined: the filter is invalid. */
function parseFilter(headers: string | null): Record<string, string | string[]> | null | undefined {
  if (headers === null) return null;
  const where = parseJsonOrNull<unknown>(headers);
  return isHeaderFilter(where) ? (where as Record<string, string | string[]>) : undefined;
}
