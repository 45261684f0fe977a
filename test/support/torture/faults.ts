import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, RowDataPacket } from 'mysql2/promise';
import type { Fate, Sent, WireProxy } from '../wire-proxy.js';
import type { Crew } from './crew.js';
import type { Random } from '../random.js';

/** What a fault can reach. */
export interface Battlefield {
  readonly random: Random;
  readonly workers: Crew;
  readonly producers: Crew;
  /** All that workers and producers say to the database passes these, one for each node. */
  readonly proxies: readonly WireProxy[];
  readonly leaseMs: number;
  /** The account of workers and producers. */
  readonly account: string;
  readonly database: string;
  readonly isMariadb: boolean;
  /** A connection of one who may do everything, past the proxy. Closed by whoever asks for it. */
  admin(): Promise<Connection>;
  /** Kills the server, or one node, and has it back. */
  restart(): Promise<void>;
}

/** Does its harm, and resolves when it has made an end of it. */
export type Fault = (field: Battlefield) => Promise<void>;

const FULL_TABLES = ['jobs', 'claims', 'history'];

export const FAULTS: Readonly<Record<string, Fault>> = {
  'worker killed': async ({ workers, random }) => workers.one(random)?.kill(),

  'producer killed': async ({ producers, random }) => producers.one(random)?.kill(),

  'worker frozen': (field) => frozen(field.workers, field),

  'producer frozen': (field) => frozen(field.producers, field),

  'event loop blocked': async ({ workers, random, leaseMs }) => {
    workers.block(random, 2 * leaseMs);
    await sleep(2 * leaseMs);
  },

  // The others go on, and so do the faults: one at a time, or all would stand still, and nothing recover.
  'event loop blocked for a minute': async ({ workers, random, leaseMs }) => {
    workers.block(random, workers.isBlocked ? 2 * leaseMs : 60_000);
    await sleep(2 * leaseMs);
  },

  'server killed': ({ restart }) => restart(),

  'connections killed': async (field) => {
    await asAdmin(field, async (admin) => {
      for (let round = 0; round < 5; round++) {
        for (const id of await connections(admin, field)) {
          // It may have gone by itself.
          if (field.random.next() < 0.5) await admin.query(`KILL ${id}`).catch(() => undefined);
        }
        await sleep(200);
      }
    });
  },

  'connections cut': (field) => network(field, 0.03, ['cut', 'unheard', 'late']),

  'answers lost at COMMIT': async ({ proxies, random }) => {
    decide(proxies, ({ sql }) =>
      sql.endsWith('COMMIT') && random.next() < 0.3 ? random.pick(['cut', 'unheard', 'late']) : 'pass',
    );
    await sleep(2_000);
    await healed(proxies, random);
  },

  'network stalled': async ({ proxies, random, leaseMs }) => {
    decide(proxies, () => 'held');
    await sleep(random.between(500, 2 * leaseMs));
    await healed(proxies, random);
  },

  'connections silent': async (field) => {
    await network(field, 0.01, ['silent']);
    // Until then the server keeps what their transactions have locked.
    await sleep(field.random.between(0, 10_000));
    for (const proxy of field.proxies) proxy.giveUpSilent();
  },

  'disk full': async (field) => {
    await asAdmin(field, async (admin) => {
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
    await asAdmin(field, async (admin) => {
      await admin.query('SET SESSION innodb_lock_wait_timeout = 1');
      await admin.query('START TRANSACTION');
      const table = field.random.pick(['jobs', 'claims', 'producers', 'history']);
      await admin
        .query(`SELECT id FROM ${field.database}.sql_queue_${table} ORDER BY id LIMIT 200 FOR UPDATE`)
        .catch(() => undefined);
      // Longer than the library waits for a lock.
      await sleep(4_000);
      // On Galera others have aborted it by then.
      await admin.query('ROLLBACK').catch(() => undefined);
    });
  },

  deadlocks: async (field) => {
    await asAdmin(field, async (admin) => {
      await admin.query('SET SESSION innodb_lock_wait_timeout = 1');
      const jobs = `${field.database}.sql_queue_jobs`;
      for (let round = 0; round < 40; round++) {
        // Against the order in which everybody else locks.
        await admin.query(`UPDATE ${jobs} SET options = options ORDER BY id DESC LIMIT 100`).catch(() => undefined);
        await sleep(25);
      }
    });
  },

  'too many connections': async (field) => {
    await asAdmin(field, async (admin) => {
      const [[{ most }]] = (await admin.query('SELECT @@GLOBAL.max_connections AS most')) as unknown as [
        [{ most: number }],
      ];
      await admin.query('SET GLOBAL max_connections = 10');
      for (const id of await connections(admin, field)) await admin.query(`KILL ${id}`).catch(() => undefined);
      await sleep(2_000);
      await admin.query(`SET GLOBAL max_connections = ${most}`);
    });
  },

  'read-only': async (field) => {
    await asAdmin(field, async (admin) => {
      await admin.query(`SET GLOBAL ${field.isMariadb ? 'read_only' : 'super_read_only'} = 1`);
      await sleep(field.random.between(500, 3_000));
      await admin.query('SET GLOBAL read_only = 0');
    });
  },
};

async function frozen(crew: Crew, { random, leaseMs }: Battlefield): Promise<void> {
  const program = crew.one(random);
  program?.signal('SIGSTOP');
  await sleep(random.between(100, 2 * leaseMs));
  program?.signal('SIGCONT');
}

async function network({ proxies, random }: Battlefield, share: number, fates: readonly Fate[]): Promise<void> {
  decide(proxies, () => (random.next() < share ? random.pick(fates) : 'pass'));
  await sleep(2_000);
  await healed(proxies, random);
}

function decide(proxies: Battlefield['proxies'], fate: (sent: Sent) => Fate): void {
  for (const proxy of proxies) proxy.decide(fate);
}

/** From here on everything passes. What is still on its way gets there, or is lost. */
async function healed(proxies: Battlefield['proxies'], random: Random): Promise<void> {
  decide(proxies, () => 'pass');
  await sleep(random.between(0, 300));
  for (const proxy of proxies) {
    if (random.next() < 0.7) void proxy.deliver();
    else proxy.lose();
  }
}

async function asAdmin(field: Battlefield, act: (admin: Connection) => Promise<void>): Promise<void> {
  const admin = await field.admin();
  try {
    await act(admin);
  } finally {
    await admin.end();
  }
}

async function connections(admin: Connection, { account }: Battlefield): Promise<number[]> {
  const [rows] = await admin.query<RowDataPacket[]>('SELECT id FROM information_schema.processlist WHERE user = ?', [
    account,
  ]);
  return rows.map(({ id }) => Number(id));
}
