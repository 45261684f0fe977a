import { expected, isOptions } from './expectation.js';
import { nameProblem } from './identifiers.js';

/** For each header the text that a message must have, or a list of texts of which it must have one. */
export type HeaderFilter = Readonly<Record<string, string | readonly string[]>>;

/** The messages of which a queue receives copies. */
export interface SubscriptionOptions {
  /**
   * A topic, or a list of topics, of 1 to 100 of the characters A-Z a-z 0-9 . _ : -. A `*` at the end matches all
   * topics with that prefix.
   */
  topic: string | readonly string[];
  /**
   * Headers that a message must have, all of them. `{ region: ['eu', 'uk'] }` accepts either text. Default: no
   * condition.
   */
  where?: HeaderFilter;
}

/** One topic or topic prefix to which a queue subscribes. */
export interface Subscription {
  readonly topic: string;
  /** Null: no condition. */
  readonly where: HeaderFilter | null;
}

export const TOPIC_HEADER = 'topic';

// The limit of the headers of a job.
const MAX_FILTER_LENGTH = 16_384;
const MAX_TOPIC_LENGTH = 100;

export function subscriptionProblems({ topic, where }: { topic?: unknown; where?: unknown }): string[] {
  const topics: readonly unknown[] = Array.isArray(topic) ? topic : [topic];
  return [
    expected(topics.length > 0, 'topic to be a topic or a list of them', topic),
    ...topics.map((each) =>
      expected(
        isTopicPattern(each),
        `topic to be 1 to ${MAX_TOPIC_LENGTH} of the characters A-Z a-z 0-9 . _ : -, with a * at its end for all topics with that prefix`,
        each,
      ),
    ),
    ...whereProblems(where),
  ].filter((line) => line !== undefined);
}

/** Equal filters have equal texts. */
export function subscriptionsOf({ topic, where = {} }: SubscriptionOptions): Subscription[] {
  const filter = Object.entries(where)
    .map(([name, texts]) => [name, typeof texts === 'string' ? texts : [...new Set(texts)].sort()] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const topics = typeof topic === 'string' ? [topic] : topic;
  return [...new Set(topics)].sort().map((each) => ({
    topic: each,
    where: filter.length === 0 ? null : Object.fromEntries(filter),
  }));
}

/** All patterns that match the topic: the topic, and each of its prefixes with a `*`. */
export function patternsOf(topic: string): string[] {
  return [topic, ...Array.from({ length: topic.length + 1 }, (_, length) => `${topic.slice(0, length)}*`)];
}

export function matchesHeaders(where: HeaderFilter | null, headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(where ?? {}).every(([name, texts]) =>
    typeof texts === 'string' ? headers[name] === texts : texts.includes(headers[name]!),
  );
}

export function isHeaderFilter(value: unknown): value is HeaderFilter {
  const isFilter = (texts: unknown) => typeof texts === 'string' || (Array.isArray(texts) && texts.every(isText));
  return isOptions(value) && Object.values(value).every(isFilter);
}

function isTopicPattern(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_TOPIC_LENGTH) return false;
  return value === '*' || nameProblem('topic', value.replace(/\*$/, '')) === undefined;
}

function whereProblems(where: unknown): (string | undefined)[] {
  if (where === undefined) return [];
  if (!isOptions(where)) return [expected(false, 'where to be texts by header', where)];
  const problems = Object.entries(where).flatMap(([name, texts]) => [
    nameProblem('header name', name),
    expected(
      typeof texts === 'string' ||
        (Array.isArray(texts) && texts.length > 0 && [...(texts as unknown[])].every(isText)),
      `where.${name.slice(0, 100)} to be a text or a list of texts`,
      texts,
    ),
  ]);
  if (problems.some((line) => line !== undefined)) return problems;
  const characters = JSON.stringify(where).length;
  return [
    expected(characters <= MAX_FILTER_LENGTH, `where to have at most ${MAX_FILTER_LENGTH} characters`, characters),
  ];
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
