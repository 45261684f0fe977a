import { expected, isOptions } from './expectation.js';
import { nameProblem } from './job-names.js';

/** By header: the text it must have, or a list of texts of which it must have one. */
export type HeaderFilter = Readonly<Record<string, string | readonly string[]>>;

/** Which messages a queue gets copies of. */
export interface SubscriptionOptions {
  /** A topic; one that ends in `*` stands for all that begin so. Or several of these. */
  topic: string | readonly string[];
  /** Only messages with these headers, all of them. `{ region: ['eu', 'uk'] }`: with either. Default: every message. */
  where?: HeaderFilter;
}

/** One of the topics, or beginnings of topics, that a queue subscribes to. */
export interface Subscription {
  readonly topic: string;
  /** Null: whatever the headers. */
  readonly where: HeaderFilter | null;
}

/** The header in which a copy says what it is a copy of. */
export const TOPIC_HEADER = 'topic';

// As long as the headers of a job may be.
const MOST_CHARACTERS = 16_384;
const LONGEST_TOPIC = 100;

/** What is wrong with a subscription, one line a problem. */
export function subscriptionProblems({ topic, where }: { topic?: unknown; where?: unknown }): string[] {
  const topics: readonly unknown[] = Array.isArray(topic) ? topic : [topic];
  return [
    expected(topics.length > 0, 'topic to be a topic or a list of them', topic),
    ...topics.map((each) =>
      expected(
        isTopicOrBeginning(each),
        `topic to be 1 to ${LONGEST_TOPIC} of the characters A-Z a-z 0-9 . _ : -, with a * at its end for all that begin so`,
        each,
      ),
    ),
    ...whereProblems(where),
  ].filter((line) => line !== undefined);
}

/** Checked options as they are stored: what means the same is the same text. */
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

/** All that a subscription to this topic can say: itself, or one of its beginnings and a `*`. */
export function patternsOf(topic: string): string[] {
  return [topic, ...Array.from({ length: topic.length + 1 }, (_, length) => `${topic.slice(0, length)}*`)];
}

/** Whether a message with these headers is meant. */
export function admits(where: HeaderFilter | null, headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(where ?? {}).every(([name, texts]) =>
    typeof texts === 'string' ? headers[name] === texts : texts.includes(headers[name]!),
  );
}

/** Whether it is texts, or lists of them, by header. */
export function isHeaderFilter(value: unknown): value is HeaderFilter {
  const isFilter = (texts: unknown) => typeof texts === 'string' || (Array.isArray(texts) && texts.every(isText));
  return isOptions(value) && Object.values(value).every(isFilter);
}

function isTopicOrBeginning(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > LONGEST_TOPIC) return false;
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
  return [expected(characters <= MOST_CHARACTERS, `where to have at most ${MOST_CHARACTERS} characters`, characters)];
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
