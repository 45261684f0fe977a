import type { MessagePort } from 'node:worker_threads';
import type { Beat } from '../runtime/pulse.js';
import type { LeaseDatabase } from '../store/open-leases.js';

/** What the thread is given. */
export interface ThreadSettings {
  readonly database: LeaseDatabase;
  readonly workerId: string;
  readonly everyMs: number;
  readonly maxBlockedMs: number;
  readonly port: MessagePort;
  /** One number, which grows as long as the process's event loop turns. */
  readonly turns: Int32Array;
}

export type ToThread = { hold: number } | { letGo: number };

/** The beat's time is that of the machine's monotonic clock. */
export type FromThread = { beat: Beat } | { missed: string };
