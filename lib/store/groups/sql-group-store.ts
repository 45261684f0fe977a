import { runChange } from '../audit/run-change.js';
import type { Dialect, SqlDatabase } from '../core/sql-database.js';
import { changeGroupLimits, deleteUnusedGroup, findUnusedGroups, restGroup, setGroupPaused } from './edit-groups.js';
import type { GroupStore } from './group-store.js';
import { countGroup, listGroups } from './read-groups.js';

export function sqlGroupStore(database: SqlDatabase, dialect: Dialect): GroupStore {
  return {
    list: (search) => database.runIdempotent(() => listGroups(search)),
    counts: (queue, group) => database.runIdempotent(() => countGroup(queue, group)),
    setPaused: (queue, group, paused, change = {}) =>
      runChange(database, change, () => setGroupPaused(dialect, { queue, group }, paused), one),
    setLimits: (queue, group, limits, change = {}) =>
      runChange(database, change, () => changeGroupLimits(dialect, { queue, group }, limits), one),
    rest: (queue, group, rest, change = {}) =>
      runChange(database, change, () => restGroup(dialect, { queue, group }, rest), one),

    async prune(limit) {
      const unused = await database.runIdempotent(() => findUnusedGroups(limit));
      for (const name of unused) await database.transaction(() => deleteUnusedGroup(name));
      return unused.length;
    },
  };
}

const one = () => 1;
