import { signal, type Signal } from '@preact/signals';
import { read } from '../api.js';
import type { Rights, Verb } from '../answers.js';

const MAX_AGE_MS = 30_000;
const NONE: Rights = { verbs: [], isReadOnly: false, user: null };

interface Known {
  readonly rights: Signal<Rights>;
  atMs: number;
}

const known = new Map<string, Known>();

/** The verbs that the viewer may use in the queue. The server checks each of them again. */
export function rightsFor(queue = ''): Rights {
  let one = known.get(queue);
  if (!one) known.set(queue, (one = { rights: signal(NONE), atMs: 0 }));
  if (Date.now() - one.atMs >= MAX_AGE_MS) void load(queue, one);
  return one.rights.value;
}

export const may = (verb: Verb, queue = '') => rightsFor(queue).verbs.includes(verb);

async function load(queue: string, one: Known): Promise<void> {
  one.atMs = Date.now();
  const rights = await read<Rights>('rights', { queue }).catch(() => undefined);
  if (!rights) one.atMs = 0;
  // Equal rights draw nothing anew.
  else if (JSON.stringify(rights) !== JSON.stringify(one.rights.peek())) one.rights.value = rights;
}
