import { read } from './api.js';

const MAX_AGE_MS = 30_000;

/** @type {Map<string, { at: number, rights: Promise<{ verbs: string[], isReadOnly: boolean, user: string | null }> }>} */
const known = new Map();

/** @param {string} [queue] the verbs that the viewer may use in the queue; kept for 30 seconds */
export function rightsFor(queue = '') {
  const last = known.get(queue);
  if (last && Date.now() - last.at < MAX_AGE_MS) return last.rights;
  const rights = read('rights', { queue });
  known.set(queue, { at: Date.now(), rights });
  rights.catch(() => known.delete(queue));
  return rights;
}

/**
 * @param {{ queue: string }[]} rows
 * @returns {Promise<(row: { queue: string }) => { verbs: string[] }>} the rights for the queue of a row
 */
export async function rightsByQueue(rows) {
  const queues = [...new Set(rows.map(({ queue }) => queue))];
  const rights = await Promise.all(queues.map(rightsFor));
  return ({ queue }) => rights[queues.indexOf(queue)];
}
