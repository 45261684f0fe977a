import { SELECT_ID_STEP } from '../core/inserted-ids.js';
import type { SqlValue } from '../core/statement.js';
import type { Hosts } from './hosts.js';

// Far longer than a transaction of the library keeps a row locked. It limits metadata locks too: an ALTER TABLE that
// waits for a long transaction blocks all other statements, by default for a year, even after their client has
// disconnected.
const LOCK_WAIT_TIMEOUT_S = 1;

const READ_COMMITTED = `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`;
// Overrides server settings that break the library: chained transactions, in which statements after a COMMIT do not
// commit, and limits for the duration of statements.
const SETTINGS = `
  SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, completion_type = 'NO_CHAIN',
    /*!80000 max_execution_time = 0, */ /*M! max_statement_time = 0, */
    wait_timeout = ?, innodb_lock_wait_timeout = ?, lock_wait_timeout = ?, eq_range_index_dive_limit = 1`;

// On Galera the auto-increment step changes with the number of nodes; elsewhere a session keeps its step.
const GALERA = `SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'`;

// The binary log then contains only keys and changed columns, and not each payload twice per claim and completion. It
// needs a privilege that not every account has (1227). Galera replicates whole rows.
const SHORT_ROW_IMAGE = `SET SESSION binlog_row_image = 'MINIMAL'`;
const ACCESS_DENIED = 1227;

const SYNTAX_ERROR = 1064;

export type Send = (sql: string, values?: readonly SqlValue[]) => Promise<readonly Record<string, unknown>[]>;

/** The session settings of the library's connections, and the limits of the server found with them. */
export class MysqlSessions {
  /**
   * Whether several statements may be sent as one text. A proxy may reject it. On Galera it is unsafe: a node that
   * aborts the transaction between two statements reports no error, commits each later statement alone, and its COMMIT
   * succeeds (record 16).
   */
  supportsMultiStatements = true;
  isGalera = false;
  #isRowImageDenied = false;

  constructor(
    private readonly waitTimeoutS: number,
    private readonly hosts: Hosts,
  ) {}

  /** Returns the step between the ids of one INSERT; undefined if the step may change. */
  async setUp(send: Send): Promise<number | undefined> {
    if (this.hosts.count > 0) await requireWritable(send);
    await this.#applySettings(send);
    const [galera] = await send(GALERA);
    this.isGalera = Number(galera?.['Value'] ?? 0) > 0;
    if (this.isGalera) {
      this.supportsMultiStatements = false;
      return undefined;
    }
    await this.#shortenRowImage(send);
    const [row] = await send(SELECT_ID_STEP);
    return Number(row!['step']);
  }

  async #applySettings(send: Send): Promise<void> {
    const values = [this.waitTimeoutS, LOCK_WAIT_TIMEOUT_S, LOCK_WAIT_TIMEOUT_S];
    if (this.supportsMultiStatements) {
      try {
        await send(`${READ_COMMITTED}; ${SETTINGS}`, values);
        return;
      } catch (error) {
        if (errno(error) !== SYNTAX_ERROR) throw error;
        this.supportsMultiStatements = false;
      }
    }
    await send(READ_COMMITTED);
    await send(SETTINGS, values);
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

/** Rejects for a node that a failover has made a replica: it still answers. */
async function requireWritable(send: Send): Promise<void> {
  const [row] = await send('SELECT @@GLOBAL.read_only AS is_read_only');
  if (Number(row!['is_read_only']) === 0) return;
  throw Object.assign(new Error('The node is read-only'), { errno: 1290 });
}

function errno(error: unknown): number | undefined {
  return (error as { errno?: number }).errno;
}
