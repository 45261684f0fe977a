import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { changeGroupLimits, deleteUnusedGroup, findUnusedGroups, restGroup, setGroupPaused } from './edit-groups.js';
import type { GroupStore } from './group-store.js';
import { countGroup, listGroups } from './read-groups.js';

export function sqlGroupStore(database: SqlDatabase, dialect: Dialect): GroupStore {
  return {
    list: (search) => database.runIdempotent(() => listGroups(search)),
    counts: (queue, group) => database.runIdempotent(() => countGroup(queue, group)),
    setPaused: (queue, group, paused) => database.transaction(() => setGroupPaused(dialect, { queue, group }, paused)),
    setLimits: (queue, group, change) =>
      database.transaction(() => changeGroupLimits(dialect, { queue, group }, change)),
    rest: (queue, group, rest) => database.transaction(() => restGroup(dialect, { queue, group }, rest)),

    async prune(limit) {
      const unused = await database.runIdempotent(() => findUnusedGroups(limit));
      for (const name of unused) await database.transaction(() => deleteUnusedGroup(name));
      return unused.length;
    },
  };
}
