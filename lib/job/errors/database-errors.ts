import { hasCode, SqlQueueError } from './sql-queue-error.js';

/** The tables of the library are missing, or their version does not fit this release. */
export class SchemaOutOfDateError extends SqlQueueError {
  readonly code = 'SCHEMA_OUT_OF_DATE';
}

/** The library does not support the database: its version is too old, or one of its settings is in the way. */
export class UnsupportedDatabaseError extends SqlQueueError {
  readonly code = 'UNSUPPORTED_DATABASE';
}

const OTHER_MIGRATOR =
  ` If another account makes and updates the tables, run \`npx nestjs-sql-queue migrate\` with it, and set ` +
  `\`schema: { migrate: 'check' }\`.`;

/** The database account lacks a privilege that the statement needs. Nothing was done. */
export class MissingPrivilegeError extends SqlQueueError {
  readonly code = 'MISSING_PRIVILEGE';

  /** @param denied the message of the database, which names the account and the table */
  constructor(denied: string, options?: ErrorOptions) {
    super(
      `The database account may not do this: ${denied}. \`npx nestjs-sql-queue doctor\` with this account prints the GRANT ` +
        `statements that it needs; pass --account for a role other than worker (docs/guides/security.md).` +
        // Only these statements depend on the option.
        (/^(?:CREATE|ALTER|INDEX|DROP|REFERENCES) command denied/.test(denied) ? OTHER_MIGRATOR : ''),
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

/** Whether a commit was under way that may have succeeded. */
export function isOutcomeUnknown(error: unknown): boolean {
  return hasCode(error, 'STORE_UNAVAILABLE') && (error as StoreUnavailableError).outcome === 'unknown';
}
