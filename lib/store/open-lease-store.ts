import type { DataSource } from 'typeorm';
import { openForLeases } from './databases/for-leases.js';
import type { LeaseStoreOptions } from './lease-store-options.js';
import type { JobStore } from './verbs/job-store.js';
import { extend } from './rows/lease.js';
import type { WorkerRegistry } from './features/workers/worker-registry.js';
import { markWorkerSeen } from './features/workers/sql-worker-registry.js';

/** The verbs that the heartbeat needs. */
export interface LeaseStore extends Pick<JobStore, 'extend' | 'close'>, Pick<WorkerRegistry, 'markSeen'> {}

/** The store needs one connection. */
export async function openLeaseStore({ options, tables, ...settings }: LeaseStoreOptions): Promise<LeaseStore> {
  const dataSource = { options } as DataSource;
  const database = await openForLeases({ dataSource, ...settings }, tables);
  return {
    extend: (claimIds) => database.runIdempotent(() => extend(claimIds)),
    markSeen: (workerId) => database.runIdempotent(() => markWorkerSeen(workerId)),
    close: () => database.close(),
  };
}
