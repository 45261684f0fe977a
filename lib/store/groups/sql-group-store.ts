import type { GroupLimitChange } from '../../job/groups/group-options.js';
import type { Delay } from '../../job/outcome.js';
import type { Change } from '../audit/audit-store.js';
import { runChange } from '../audit/run-change.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { changeGroupLimits, deleteUnusedGroup, findUnusedGroups, restGroup, setGroupPaused } from './edit-groups.js';
import type { GroupCounts, GroupRecord, GroupSearch, GroupStore } from './group-store.js';
import { countGroup, listGroups } from './read-groups.js';

export class SqlGroupStore implements GroupStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Dialect,
  ) {}

  list(search: GroupSearch): Promise<GroupRecord[]> {
    return this.database.runIdempotent(() => listGroups(search));
  }

  counts(queue: string, group: string): Promise<GroupCounts> {
    return this.database.runIdempotent(() => countGroup(queue, group));
  }

  setPaused(queue: string, group: string, paused: boolean, recorded: Change = {}): Promise<void> {
    return runChange(
      this.database,
      recorded,
      () => setGroupPaused(this.dialect, { queue, group }, paused),
      () => 1,
    );
  }

  setLimits(queue: string, group: string, change: GroupLimitChange | null, recorded: Change = {}): Promise<void> {
    return runChange(
      this.database,
      recorded,
      () => changeGroupLimits(this.dialect, { queue, group }, change),
      () => 1,
    );
  }

  rest(queue: string, group: string, rest: Delay | null, recorded: Change = {}): Promise<void> {
    return runChange(
      this.database,
      recorded,
      () => restGroup(this.dialect, { queue, group }, rest),
      () => 1,
    );
  }

  async prune(limit: number): Promise<number> {
    const unused = await this.database.runIdempotent(() => findUnusedGroups(limit));
    for (const name of unused) await this.database.transaction(() => deleteUnusedGroup(name));
    return unused.length;
  }
}
