import type { AuditEntry } from '../../answers.js';
import { clock } from '../../format.js';

const OF_QUEUES = ['pause', 'resume', 'limit', 'configure', 'obliterate', 'enqueue', 'subscribe', 'unsubscribe'];

/** In the order of a sentence. */
const CONDITIONS: Readonly<Record<string, (value: unknown) => string>> = {
  queue: (value) => `of ${String(value)}`,
  name: (value) => `named ${String(value)}`,
  error: (value) => `with error ${String(value)}`,
  key: (value) => `with key ${String(value)}`,
  group: (value) => `of group ${String(value)}`,
  owner: (value) => `of owner ${String(value)}`,
  worker: (value) => `of worker ${String(value)}`,
  headers: headersText,
  createdAfter: (value) => `enqueued after ${timeText(value)}`,
  createdBefore: (value) => `enqueued before ${timeText(value)}`,
  finishedAfter: (value) => `ended after ${timeText(value)}`,
  finishedBefore: (value) => `ended before ${timeText(value)}`,
};

/** The selection in words, such as `dead jobs of crm with error E550`. Undefined: it has a part without words here. */
export function selectionText({ verb, which }: Pick<AuditEntry, 'verb' | 'which'>): string | undefined {
  if (verb === 'erase') return 'the jobs of a subject';
  if (typeof which === 'string') return nameText(verb, which);
  if (typeof which !== 'object' || which === null || Array.isArray(which)) return undefined;
  const given = which as { readonly state?: string } & Readonly<Record<string, unknown>>;
  if (verb === 'signal') return `the signal ${String(given['name'])} with the key ${String(given['key'])}`;
  if (verb.startsWith('group.')) return `group ${String(given['group'])} of ${String(given['queue'])}`;
  if (given['all'] === true) return OF_QUEUES.includes(verb) ? 'all queues' : 'all jobs';
  const { state, ...others } = given;
  if (Object.keys(others).some((name) => !Object.hasOwn(CONDITIONS, name))) return undefined;
  const conditions = Object.entries(CONDITIONS).filter(([name]) => others[name] !== undefined);
  const jobs = state === undefined ? 'jobs' : `${state} jobs`;
  return [jobs, ...conditions.map(([name, textOf]) => textOf(others[name]))].join(' ');
}

function nameText(verb: string, name: string): string {
  if (verb.startsWith('schedule.')) return `schedule ${name}`;
  return OF_QUEUES.includes(verb) ? `queue ${name}` : name;
}

/** A text if the server has hidden them. */
function headersText(headers: unknown): string {
  if (typeof headers === 'string') return `with headers ${headers}`;
  const pairs = Object.entries(headers as Record<string, unknown>);
  return pairs.map(([header, value]) => `with header ${header}: ${String(value)}`).join(' ');
}

function timeText(value: unknown): string {
  const date = new Date(String(value));
  return Number.isNaN(date.getTime()) ? String(value) : clock(date);
}
