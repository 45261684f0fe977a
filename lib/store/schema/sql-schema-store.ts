import type { SqlDatabase } from '../core/sql-database.js';
import { query } from '../core/statement.js';
import { SCHEMA_VERSION } from './migrations/migrations.js';
import { currentVersion, type MigrateMode } from './schema.js';
import type { SchemaState, SchemaStore } from './schema-store.js';

// The account may lack the right to read the version.
const PING = `SELECT 1 AS pong`;

export class SqlSchemaStore implements SchemaStore {
  constructor(
    private readonly database: SqlDatabase,
    private readonly migrate: MigrateMode,
  ) {}

  async readState(): Promise<SchemaState> {
    if (this.migrate === 'off') {
      await this.database.runIdempotent(() => query(PING));
      return 'unchecked';
    }
    const version = await this.database.runIdempotent(() => currentVersion());
    if (version === 0) return 'missing';
    if (version === SCHEMA_VERSION) return 'current';
    return version < SCHEMA_VERSION ? 'older' : 'newer';
  }
}
