import type { Worker } from '../answers.js';
import { sum } from '../format.js';

const SILENT_MS = 60_000;

/** A worker sends a heartbeat every few seconds. */
export const isSilent = ({ seenAt }: Worker, nowMs: number): boolean => nowMs - Date.parse(seenAt) > SILENT_MS;

/** The calls of handlers that may run at once in the process. */
export const slotsOf = ({ slots, queues }: Worker): number =>
  Math.min(slots ?? Infinity, sum(queues.map((queue) => queue.slots)));
