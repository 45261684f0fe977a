import type * as port from '../trace-store.js';
import type { SqlDatabase } from './sql-database.js';
import { together } from './statement.js';
import { forgetting, hasOldTraces, progressOf, pruneTraces, trace } from './traces.js';

// So many jobs are in one statement, at the most.
const CHUNK = 5_000;

export class SqlTraceStore implements port.TraceStore {
  constructor(private readonly database: SqlDatabase) {}

  async trace(traces: readonly port.Trace[]): Promise<void> {
    if (traces.length > 0) await this.database.transaction(() => trace(traces));
  }

  async progressOf(ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>();
    for (let from = 0; from < ids.length; from += CHUNK) {
      const chunk = ids.slice(from, from + CHUNK);
      for (const [id, value] of await this.database.repeatable(() => progressOf(chunk))) found.set(id, value);
    }
    return found;
  }

  async untrace(ids: readonly number[]): Promise<void> {
    if (ids.length > 0) await this.database.transaction(() => together(forgetting(ids)));
  }

  async pruneTraces(limit: number): Promise<number> {
    if (!(await this.database.repeatable(hasOldTraces))) return 0;
    return this.database.transaction(() => pruneTraces(limit));
  }
}
