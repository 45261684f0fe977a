import { ID_STEP } from '../sql/inserted-ids.js';
import type { SqlValue } from '../sql/statement.js';
import type { Hosts } from './hosts.js';

// Far longer than any transaction of the library's own keeps a row. Of a table too: whoever changes one behind a long
// transaction has everybody else wait as well, by default for a year, and the server goes on with that wait when the
// connection has long been given up.
const LOCK_WAIT_S = 1;

const READ_COMMITTED = `SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`;
// A server may chain transactions, so that what follows a COMMIT is not committed by itself, or limit how long a statement
// takes: it means others than this.
const SETTINGS = `
  SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, completion_type = 'NO_CHAIN',
    /*!80000 max_execution_time = 0, */ /*M! max_statement_time = 0, */
    wait_timeout = ?, innodb_lock_wait_timeout = ?, lock_wait_timeout = ?, eq_range_index_dive_limit = 1`;

// A session keeps its step, but on Galera, where it is the number of nodes at that moment.
const GALERA = `SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'`;

// The binary log then has the key of a row and what changed, not the payload, twice, of every job claimed and finished. It
// takes a privilege that not every account has: 1227. Galera replicates whole rows.
const SHORT_ROW_IMAGE = `SET SESSION binlog_row_image = 'MINIMAL'`;
const ACCESS_DENIED = 1227;

const SYNTAX_ERROR = 1064;

type Rows = readonly Record<string, unknown>[];
export type Send = (sql: string, values?: readonly SqlValue[]) => Promise<Rows>;

/** The session settings of the library's own connections, and what it has found out about them. */
export class MysqlSessions {
  /**
   * Whether several statements may travel as one text. A server takes that; what stands in front of it may not. And a node
   * of Galera that has to give up a transaction between two of them says nothing of it: it goes on with the rest, each
   * statement for itself, and its COMMIT succeeds (decision 16).
   */
  takeSeveral = true;
  isGalera = false;
  #isRowImageDenied = false;

  constructor(
    private readonly waitTimeoutS: number,
    private readonly hosts: Hosts,
  ) {}

  /** Answers how far the ids of one INSERT are apart; undefined where that may change. */
  async setUp(send: Send): Promise<number | undefined> {
    if (this.hosts.count > 0) await requireWritable(send);
    await this.#set(send);
    const [galera] = await send(GALERA);
    this.isGalera = Number(galera?.['Value'] ?? 0) > 0;
    if (this.isGalera) {
      this.takeSeveral = false;
      return undefined;
    }
    await this.#shortenRowImage(send);
    const [row] = await send(ID_STEP);
    return Number(row!['step']);
  }

  async #set(send: Send): Promise<void> {
    const values = [this.waitTimeoutS, LOCK_WAIT_S, LOCK_WAIT_S];
    if (this.takeSeveral) {
      try {
        await send(`${READ_COMMITTED}; ${SETTINGS}`, values);
        return;
      } catch (error) {
        if (errno(error) !== SYNTAX_ERROR) throw error;
        this.takeSeveral = false;
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

/** A node that a failover has made a replica still answers. */
async function requireWritable(send: Send): Promise<void> {
  const [row] = await send('SELECT @@GLOBAL.read_only AS is_read_only');
  if (Number(row!['is_read_only']) === 0) return;
  throw Object.assign(new Error('The node may not be written to'), { errno: 1290 });
}

function errno(error: unknown): number | undefined {
  return (error as { errno?: number }).errno;
}
