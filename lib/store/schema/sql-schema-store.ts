import type { SqlDatabase } from '../core/sql-database.js';
import { query } from '../core/statement.js';
import { SCHEMA_VERSION } from './migrations/migrations.js';
import { currentVersion, type MigrateMode } from './schema.js';
import type { SchemaStore } from './schema-store.js';

// The account may lack the right to read the version.
const PING = `SELECT 1 AS pong`;

export function sqlSchemaStore(database: SqlDatabase, migrate: MigrateMode): SchemaStore {
  return {
    async readState() {
      if (migrate === 'off') {
        await database.runIdempotent(() => query(PING));
        return 'unchecked';
      }
      const version = await database.runIdempotent(() => currentVersion());
      if (version === 0) return 'missing';
      if (version === SCHEMA_VERSION) return 'current';
      return version < SCHEMA_VERSION ? 'older' : 'newer';
    },
  };
}
