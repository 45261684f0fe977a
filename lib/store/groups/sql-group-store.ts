import type { GroupLimitChange } from '../../job/groups/group-options.js';
import type { Delay } from '../../job/outcome.js';
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

  setPaused(queue: string, group: string, paused: boolean): Promise<void> {
    return this.database.transaction(() => setGroupPaused(this.dialect, { queue, group }, paused));
  }

  setLimits(queue: string, group: string, change: GroupLimitChange | null): Promise<void> {
    return this.database.transaction(() => changeGroupLimits(this.dialect, { queue, group }, change));
  }

  rest(queue: string, group: string, rest: Delay | null): Promise<void> {
    return this.database.transaction(() => restGroup(this.dialect, { queue, group }, rest));
  }

  async prune(limit: number): Promise<number> {
    const unused = await this.database.runIdempotent(() => findUnusedGroups(limit));
    for (const name of unused) await this.database.transaction(() => deleteUnusedGroup(name));
    return unused.length;
  }
}
