import type * as port from './job-log-store.js';
import type { SqlDatabase } from '../core/sql-database.js';
import { executeAll } from '../core/statement.js';
import { inBatches } from './in-batches.js';
import { jobLogDeletions, hasExpiredJobLogs, progressOf, pruneJobLogs, writeJobLogs } from './job-logs.js';

export class SqlJobLogStore implements port.JobLogStore {
  constructor(private readonly database: SqlDatabase) {}

  async writeJobLogs(entries: readonly port.JobLogEntry[]): Promise<void> {
    if (entries.length > 0) await this.database.transaction(() => writeJobLogs(entries));
  }

  async progressOf(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const found = await inBatches(ids, (batch) => this.database.runIdempotent(() => progressOf(batch)));
    return new Map(found.flatMap((values) => [...values]));
  }

  async deleteJobLogs(ids: readonly number[]): Promise<void> {
    if (ids.length > 0) await this.database.transaction(() => executeAll(jobLogDeletions(ids)));
  }

  async pruneJobLogs(limit: number): Promise<number> {
    if (!(await this.database.runIdempotent(hasExpiredJobLogs))) return 0;
    return this.database.transaction(() => pruneJobLogs(limit));
  }
}
