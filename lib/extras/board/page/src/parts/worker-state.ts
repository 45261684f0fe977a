import type { Worker } from '../answers.js';
import { sum } from '../format.js';

/** The calls of handlers that may run at once in the process. */
export const slotsOf = ({ slots, queues }: Worker): number =>
  Math.min(slots ?? Infinity, sum(queues.map((queue) => queue.slots)));
