import type { LimitChange, Limits } from '../../job/limits/limit-options.js';
import type { Delay } from '../../job/outcome.js';
import type { Change } from '../audit/audit-store.js';
import { runChange } from '../audit/run-change.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { changeLimits, declareLimits, findDiffering, restQueue } from './edit-limits.js';
import type { LimitStore } from './limit-store.js';

export class SqlLimitStore implements LimitStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Dialect,
  ) {}

  async declareLimits(limits: ReadonlyMap<string, Limits>): Promise<string[]> {
    const replaced: string[] = [];
    for (const queue of await this.database.runIdempotent(() => findDiffering(limits)))
      if (await this.database.transaction(() => declareLimits(this.dialect, queue, limits.get(queue)!)))
        replaced.push(queue);
    return replaced;
  }

  setLimits(queue: string, change: LimitChange | null, recorded: Change = {}): Promise<void> {
    return runChange(
      this.database,
      recorded,
      () => changeLimits(this.dialect, queue, change),
      () => 1,
    );
  }

  rest(queue: string, rest: Delay): Promise<void> {
    return this.database.transaction(() => restQueue(this.dialect, queue, rest));
  }
}
