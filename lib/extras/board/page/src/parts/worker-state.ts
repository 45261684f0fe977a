import type { Worker } from '../answers.js';

const SILENT_MS = 60_000;

/** A worker sends a heartbeat every few seconds. */
export const isSilent = ({ seenAt }: Worker, nowMs: number): boolean => nowMs - Date.parse(seenAt) > SILENT_MS;
