import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import type { ProxyAction, SentStatement, WireProxy } from '../wire-proxy.js';
import type { ProcessGroup } from './process-group.js';
import { shiftDatabaseClock } from './shiftable-clock.js';
import type { Random } from '../random.js';

/** The targets of faults. */
export interface FaultTarget {
  readonly random: Random;
  readonly workers: ProcessGroup;
  readonly producers: ProcessGroup;
  /** One proxy per node. All traffic of workers and producers passes them. */
  readonly proxies: readonly WireProxy[];
  readonly leaseMs: number;
  /** The account of workers and producers. */
  readonly account: string;
  readonly database: string;
  readonly isMariadb: boolean;
  /** Opens an administrative connection past the proxy. The caller closes it. */
  admin(): Promise<Connection>;
  /** Kills and restarts the server or one node. */
  restart(): Promise<void>;
  /** Pauses a queue. Returns a function that ends the pause. */
  pauseQueue(): Promise<() => Promise<void>>;
  /** The times at which the clock of the database was wrong. */
  readonly jumps: { readonly from: number; readonly to: number }[];
}

/** Injects the fault, and resolves when it is over. */
export type Fault = (field: FaultTarget) => Promise<void>;

const FULL_TABLES = ['jobs', 'claims', 'history'];
const LOCKED_TABLES = ['jobs', 'claims', 'commit_log', 'history', 'groups', 'schedules', 'steps', 'signals', 'edges'];
const JUMP_MS = 3_600_000;

export const FAULTS: Readonly<Record<string, Fault>> = {
  'worker killed': async ({ workers, random }) => workers.pickOne(random)?.kill(),

  'producer killed': async ({ producers, random }) => producers.pickOne(random)?.kill(),

  'worker frozen': (field) => freezeOne(field.workers, field),

  'producer frozen': (field) => freezeOne(field.producers, field),

  'event loop blocked': async ({ workers, random, leaseMs }) => {
    workers.block(random, 2 * leaseMs);
    await sleep(2 * leaseMs);
  },

  // One event loop at a time: if all were blocked, no worker could recover. Other workers and faults continue.
  'event loop blocked for a minute': async ({ workers, random, leaseMs }) => {
    workers.block(random, workers.isBlocked ? 2 * leaseMs : 60_000);
    await sleep(2 * leaseMs);
  },

  'server killed': ({ restart }) => restart(),

  'connections killed': async (field) => {
    await withAdmin(field, async (admin) => {
      for (let round = 0; round < 5; round++) {
        for (const id of await readConnectionIds(admin, field)) {
          // The connection may have ended already.
          if (field.random.next() < 0.5) await admin.query(`KILL ${id}`).catch(() => undefined);
        }
        await sleep(200);
      }
    });
  },

  'connections cut': (field) => disturbNetwork(field, 0.03, ['cut', 'unanswered', 'late']),

  'answers lost at COMMIT': async ({ proxies, random }) => {
    setProxyAction(proxies, ({ sql }) =>
      sql.endsWith('COMMIT') && random.next() < 0.3 ? random.pick(['cut', 'unanswered', 'late']) : 'pass',
    );
    await sleep(2_000);
    await healNetwork(proxies, random);
  },

  'network stalled': async ({ proxies, random, leaseMs }) => {
    setProxyAction(proxies, () => 'held');
    await sleep(random.between(500, 2 * leaseMs));
    await healNetwork(proxies, random);
  },

  'connections silent': async (field) => {
    await disturbNetwork(field, 0.01, ['silent']);
    // Until then the server holds the locks of their transactions.
    await sleep(field.random.between(0, 10_000));
    for (const proxy of field.proxies) proxy.closeSilent();
  },

  'disk full': async (field) => {
    await withAdmin(field, async (admin) => {
      const named = (table: string) => `${field.database}.torture_full_${table}`;
      const table = field.random.pick(FULL_TABLES);
      await admin.query(`
        CREATE TRIGGER ${named(table)} BEFORE INSERT ON ${field.database}.sql_queue_${table} FOR EACH ROW
        SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'`);
      await sleep(field.random.between(500, 3_000));
      await admin.query(`DROP TRIGGER ${named(table)}`);
    });
  },

  'rows locked': async (field) => {
    await withAdmin(field, async (admin) => {
      await admin.query('SET SESSION innodb_lock_wait_timeout = 1');
      await admin.query('START TRANSACTION');
      const table = field.random.pick(LOCKED_TABLES);
      await admin
        .query(`SELECT 1 FROM ${field.database}.sql_queue_${table} FORCE INDEX (PRIMARY) LIMIT 200 FOR UPDATE`)
        .catch(() => undefined);
      // Longer than the lock wait timeout of the library.
      await sleep(4_000);
      // On Galera, another transaction has aborted it meanwhile.
      await admin.query('ROLLBACK').catch(() => undefined);
    });
  },

  // A virtual machine that resumes, or a failover: an hour ahead, and back.
  'clock of the database ahead': async (field) => {
    await withAdmin(field, async (admin) => {
      await admin.query(`USE ${field.database}`);
      const from = Date.now();
      await shiftDatabaseClock(admin, JUMP_MS);
      await sleep(field.random.between(500, 2 * field.leaseMs));
      await shiftDatabaseClock(admin, 0);
      field.jumps.push({ from, to: Date.now() });
    });
  },

  'queue paused': async ({ pauseQueue, random }) => {
    const resume = await pauseQueue();
    await sleep(random.between(500, 3_000));
    await resume();
  },

  deadlocks: async (field) => {
    await withAdmin(field, async (admin) => {
      await admin.query('SET SESSION innodb_lock_wait_timeout = 1');
      const jobs = `${field.database}.sql_queue_jobs`;
      for (let round = 0; round < 40; round++) {
        // Against the common lock order.
        await admin.query(`UPDATE ${jobs} SET options = options ORDER BY id DESC LIMIT 100`).catch(() => undefined);
        await sleep(25);
      }
    });
  },

  'too many connections': async (field) => {
    await withAdmin(field, async (admin) => {
      const [[{ most }]] = (await admin.query('SELECT @@GLOBAL.max_connections AS most')) as unknown as [
        [{ most: number }],
      ];
      await admin.query('SET GLOBAL max_connections = 10');
      for (const id of await readConnectionIds(admin, field)) await admin.query(`KILL ${id}`).catch(() => undefined);
      await sleep(2_000);
      await admin.query(`SET GLOBAL max_connections = ${most}`);
    });
  },

  'read-only': async (field) => {
    await withAdmin(field, async (admin) => {
      await admin.query(`SET GLOBAL ${field.isMariadb ? 'read_only' : 'super_read_only'} = 1`);
      await sleep(field.random.between(500, 3_000));
      await admin.query('SET GLOBAL read_only = 0');
    });
  },
};

async function freezeOne(group: ProcessGroup, { random, leaseMs }: FaultTarget): Promise<void> {
  const program = group.pickOne(random);
  program?.signal('SIGSTOP');
  await sleep(random.between(100, 2 * leaseMs));
  program?.signal('SIGCONT');
}

async function disturbNetwork(
  { proxies, random }: FaultTarget,
  share: number,
  actions: readonly ProxyAction[],
): Promise<void> {
  setProxyAction(proxies, () => (random.next() < share ? random.pick(actions) : 'pass'));
  await sleep(2_000);
  await healNetwork(proxies, random);
}

function setProxyAction(proxies: FaultTarget['proxies'], action: (sent: SentStatement) => ProxyAction): void {
  for (const proxy of proxies) proxy.onStatement(action);
}

/** Ends the disturbance. Held statements are delivered or lost. */
async function healNetwork(proxies: FaultTarget['proxies'], random: Random): Promise<void> {
  setProxyAction(proxies, () => 'pass');
  await sleep(random.between(0, 300));
  for (const proxy of proxies) {
    if (random.next() < 0.7) void proxy.deliverHeld();
    else proxy.dropHeld();
  }
}

async function withAdmin(target: FaultTarget, act: (admin: Connection) => Promise<void>): Promise<void> {
  const admin = await target.admin();
  try {
    await act(admin);
  } finally {
    await admin.end();
  }
}

async function readConnectionIds(admin: Connection, { account }: FaultTarget): Promise<number[]> {
  const [rows] = await admin.query<RowDataPacket[]>('SELECT id FROM information_schema.processlist WHERE user = ?', [
    account,
  ]);
  return rows.map(({ id }) => Number(id));
}
