import { systemClock } from '../common/clock.js';
import { leaseStoreOptions } from '../store/lease-store-options.js';
import { heartbeatProgram, ThreadHeartbeat } from '../worker/heartbeat/thread-heartbeat.js';
import type { WorkerParts } from '../worker/worker-parts.js';
import type { EngineCore, EngineSettings } from './subsystems.js';

export type HeartbeatFactory = NonNullable<WorkerParts['createHeartbeat']>;

/** @returns undefined if leases are renewed on the event loop */
export function createHeartbeatFactory(
  { settings, workerOptions, hosts, skew }: EngineCore,
  { dataSource, prefix }: EngineSettings,
): HeartbeatFactory | undefined {
  if (workerOptions.heartbeat !== 'thread') return undefined;
  const program = heartbeatProgram();
  const leases = leaseStoreOptions(dataSource, {
    prefix,
    hosts,
    shortestLeaseMs: settings.extremes.shortestLeaseMs,
    skewMs: skew.ms,
  });
  // The thread has a clock of its own, so an injected clock would disagree with it.
  return (given) => new ThreadHeartbeat(program, leases, workerOptions.maxBlockedMs, systemClock, given);
}
