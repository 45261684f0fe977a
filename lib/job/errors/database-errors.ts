import { SqlQueueError } from './sql-queue-error.js';

/** The tables of the library are missing, or their version does not fit this release. */
export class SchemaOutOfDateError extends SqlQueueError {
  readonly code = 'SCHEMA_OUT_OF_DATE';
}

/** The library does not support the database: its version is too old, or one of its settings is in the way. */
export class UnsupportedDatabaseError extends SqlQueueError {
  readonly code = 'UNSUPPORTED_DATABASE';
}

/** The database account lacks a privilege that the statement needs. Nothing was done. */
export class MissingPrivilegeError extends SqlQueueError {
  readonly code = 'MISSING_PRIVILEGE';

  /** @param denied the message of the database, which names the account and the table */
  constructor(denied: string, options?: ErrorOptions) {
    super(
      `The database account may not do this: ${denied}. Grant it the privileges that docs/guides/security.md lists for its ` +
        `role. If another account makes and updates the tables, set \`schema: { migrate: 'check' }\`.`,
      options,
    );
  }
}

/**
 * The database was not reachable, or the connection broke during the call. If `outcome` is `unknown`, a commit was
 * under way and may have succeeded. If it is `not-done`, nothing was written.
 */
export class StoreUnavailableError extends SqlQueueError {
  readonly code = 'STORE_UNAVAILABLE';

  constructor(
    message: string,
    readonly outcome: 'not-done' | 'unknown',
    options?: ErrorOptions,
    /** The database works, but another transaction has kept rows locked for seconds. */
    readonly locked = false,
  ) {
    super(message, options);
  }
}
