import type { MessagePort } from 'node:worker_threads';
import type { HeartbeatResult } from './heartbeat.js';
import type { LeaseStoreOptions } from '../../store/open-lease-store.js';

export interface ThreadSettings {
  readonly database: LeaseStoreOptions;
  readonly workerId: string;
  readonly intervalMs: number;
  readonly maxBlockedMs: number;
  readonly port: MessagePort;
  /** A counter that grows while the event loop of the process is not blocked. */
  readonly loopTurns: Int32Array;
}

export type MessageToThread = { add: number } | { remove: number } | { renew: true };

/** `requestedAt` of the result is a time of the machine's monotonic clock, see `sharedMonotonic`. */
export type MessageFromThread = { result: HeartbeatResult } | { error: string };
