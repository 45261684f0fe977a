/** How the tables compare with this release. `unchecked`: the option `schema.migrate` is `off`. */
export type SchemaState = 'current' | 'missing' | 'older' | 'newer' | 'unchecked';

/** Reads the version of the tables while the process runs. */
export interface SchemaStore {
  /** One read of a few rows. Rejects with StoreUnavailableError if the database is away. */
  readState(): Promise<SchemaState>;
}
