import type { SqlDatabase } from '../core/sql-database.js';
import { query } from '../core/statement.js';
import { schemaVersion } from './migrations.js';
import { currentVersion, type MigrateMode } from './schema.js';

/** The tables in comparison with this release. `unchecked`: the option `schema.migrate` is `off`. */
export type SchemaState = 'current' | 'missing' | 'older' | 'newer' | 'unchecked';

// The account may lack the right to read the version.
const PING = `SELECT 1 AS pong`;

/** One read of a few rows. Rejects with StoreUnavailableError if the database is away. */
export async function readSchemaState(database: SqlDatabase, mode: MigrateMode): Promise<SchemaState> {
  if (mode === 'off') {
    await database.runIdempotent(() => query(PING));
    return 'unchecked';
  }
  const version = await database.runIdempotent(() => currentVersion());
  if (version === 0) return 'missing';
  if (version === schemaVersion()) return 'current';
  return version < schemaVersion() ? 'older' : 'newer';
}
