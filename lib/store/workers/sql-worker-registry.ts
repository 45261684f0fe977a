import type { Dialect } from '../core/dialect.js';
import type { SqlDatabase } from '../core/sql-database.js';
import { addQueues } from '../topics/add-queues.js';
import { deregisterWorker, markWorkerSeen, registerWorker, setWorkerQueues } from './worker-rows.js';
import type { WorkerRegistration, WorkerRegistry } from './worker-registry.js';

export class SqlWorkerRegistry implements WorkerRegistry {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Dialect,
  ) {}

  async register(worker: WorkerRegistration): Promise<void> {
    await addQueues(this.database, this.dialect, worker.queues);
    await this.database.transaction(() => registerWorker(worker));
  }

  setQueues(workerId: string, queues: readonly string[]): Promise<void> {
    return this.database.runIdempotent(() => setWorkerQueues(workerId, queues));
  }

  markSeen(workerId: string): Promise<void> {
    return this.database.runIdempotent(() => markWorkerSeen(workerId));
  }

  deregister(workerId: string): Promise<void> {
    return this.database.runIdempotent(() => deregisterWorker(workerId));
  }
}
