import { REQUIRED_SETTINGS, requireSettings, SESSION_SETTINGS } from './session-settings.js';

// Far longer than a transaction of the library keeps a row locked. It limits metadata locks too: an ALTER TABLE that
// waits for a long transaction blocks all other statements, by default for a year, even after their client has
// disconnected.
const LOCK_WAIT_TIMEOUT_S = 1;

const READ_COMMITTED = `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`;
// Overrides server settings that break the library: chained transactions, in which statements after a COMMIT do not
// commit, and limits for the duration of statements.
const settings = (waitTimeoutS: number) => `
  SET SESSION ${REQUIRED_SETTINGS}, autocommit = 1, completion_type = 'NO_CHAIN',
    /*!80000 max_execution_time = 0, */ /*M! max_statement_time = 0, */
    wait_timeout = ${waitTimeoutS}, innodb_lock_wait_timeout = ${LOCK_WAIT_TIMEOUT_S},
    lock_wait_timeout = ${LOCK_WAIT_TIMEOUT_S}, eq_range_index_dive_limit = 1`;

// The step between the ids of one INSERT is read with them, so it costs no round trip of its own.
const READ_SETTINGS = `SELECT ${SESSION_SETTINGS}, @@auto_increment_increment AS step`;

// On Galera the auto-increment step changes with the number of nodes; elsewhere a session keeps its step.
const GALERA = `SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'`;

// The binary log then contains only keys and changed columns, and not each payload twice per claim and completion. It
// needs a privilege that not every account has (1227). Galera replicates whole rows.
const SHORT_ROW_IMAGE = `SET SESSION binlog_row_image = 'MINIMAL'`;
const ACCESS_DENIED = 1227;

const SYNTAX_ERROR = 1064;

type Row = Readonly<Record<string, unknown>>;

/** Sends the statements as one text. Returns the rows of the last one. */
export type Send = (...statements: string[]) => Promise<readonly Row[]>;

/** The session settings of the library's connections, and the limits of the server found with them. */
export class MysqlSessions {
  /** Whether several statements may be sent as one text. A proxy may reject it. */
  supportsMultiStatements = true;
  /**
   * On Galera several writes as one text are unsafe: a node that aborts the transaction between two statements reports no
   * error, commits each later statement alone, and its COMMIT succeeds (record 16).
   */
  isGalera = false;
  #isRowImageDenied = false;

  constructor(private readonly waitTimeoutS: number) {}

  /** Returns the step between the ids of one INSERT; undefined if the step may change. */
  async setUp(send: Send): Promise<number | undefined> {
    const applied = await this.#applySettings(send);
    requireSettings(applied);
    const [galera] = await send(GALERA);
    this.isGalera = Number(galera?.['Value'] ?? 0) > 0;
    if (this.isGalera) return undefined;
    await this.#shortenRowImage(send);
    return Number(applied!['step']);
  }

  /** Returns the settings that the session has then. */
  async #applySettings(send: Send): Promise<Row | undefined> {
    const statements = [READ_COMMITTED, settings(this.waitTimeoutS), READ_SETTINGS];
    if (this.supportsMultiStatements) {
      try {
        return (await send(...statements))[0];
      } catch (error) {
        if (errno(error) !== SYNTAX_ERROR) throw error;
        this.supportsMultiStatements = false;
      }
    }
    let rows: readonly Row[] = [];
    for (const statement of statements) rows = await send(statement);
    return rows[0];
  }

  async #shortenRowImage(send: Send): Promise<void> {
    if (this.#isRowImageDenied) return;
    try {
      await send(SHORT_ROW_IMAGE);
    } catch (error) {
      if (errno(error) !== ACCESS_DENIED) throw error;
      this.#isRowImageDenied = true;
    }
  }
}

function errno(error: unknown): number | undefined {
  return (error as { errno?: number }).errno;
}
