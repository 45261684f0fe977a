import { signal, type Signal } from '@preact/signals';
import { read } from '../api.js';
import type { Rights, RightsAnswer, Verb } from '../answers.js';

const MAX_AGE_MS = 30_000;
// Their names fit into one URL, and parsers of queries take more values of one name for something else.
const MAX_QUEUES = 20;
const NONE: Rights = { verbs: [], isReadOnly: false, user: null };

interface Known {
  readonly rights: Signal<Rights>;
  atMs: number;
}

const known = new Map<string, Known>();
let asked: string[] = [];

/** The verbs that the viewer may use in the queue. The server checks each of them again. */
export function rightsFor(queue = ''): Rights {
  let one = known.get(queue);
  if (!one) known.set(queue, (one = { rights: signal(NONE), atMs: 0 }));
  if (Date.now() - one.atMs >= MAX_AGE_MS) ask(queue, one);
  return one.rights.value;
}

export const may = (verb: Verb, queue = '') => rightsFor(queue).verbs.includes(verb);

/** One request for the queues that a page draws at once. */
function ask(queue: string, one: Known): void {
  one.atMs = Date.now();
  if (asked.push(queue) === 1) queueMicrotask(loadAsked);
}

function loadAsked(): void {
  const queues = asked;
  asked = [];
  for (let from = 0; from < queues.length; from += MAX_QUEUES) void load(queues.slice(from, from + MAX_QUEUES));
}

async function load(queues: readonly string[]): Promise<void> {
  const answer = await read<RightsAnswer>('rights', { queue: queues }).catch(() => undefined);
  for (const queue of queues) {
    const one = known.get(queue)!;
    if (!answer) one.atMs = 0;
    else setRights(one, { ...answer, verbs: answer.queues[queue] ?? answer.verbs });
  }
}

/** Equal rights draw nothing anew. */
function setRights({ rights }: Known, { verbs, isReadOnly, user, changes }: Rights): void {
  const found = { verbs, isReadOnly, user, changes };
  if (JSON.stringify(found) !== JSON.stringify(rights.peek())) rights.value = found;
}
