import type { ClaimWay, Dialect } from '../sql/dialect.js';
import { waitsBehind } from '../claims/claimable.js';
import { claimFree } from '../claims/optimistic.js';
import { claimBehindActive } from '../claims/mariadb-head.js';
import { claimSkippingLocked } from '../claims/skip-locked.js';
import { listMarked, markFirst } from '../claims/update.js';
import { KEPT_MS, type KeyName } from '../sql/key-rows.js';
import { change, query, Rows, type Work } from '../sql/statement.js';
import { queueNames } from './mysql-queue-names.js';

// UTC_TIMESTAMP() knows no session time zone; UNIX_TIMESTAMP() of it would be wrong by the zone's offset.
const NOW = `TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000`;

const ADD_QUEUE = `
  INSERT IGNORE INTO {queues} (queue, paused, created_at)
  VALUES (:queue, 0, :now)`;

const ADD_KEYS = `
  INSERT IGNORE INTO {keys} (queue, key_hash, kept_until)
  VALUES :rows`;

// Exact, unlike information_schema, which MySQL answers from a cache for a day.
const TABLE = 'SHOW CREATE TABLE {jobs}';

// A digest, since a lock's name has 64 characters at most and counts for the whole server. The wait is shorter than the one
// for the answer to any statement.
const LOCK_NAME = `SHA2(CONCAT(DATABASE(), '.{schema}'), 224)`;
const TAKE_LOCK = `SELECT GET_LOCK(${LOCK_NAME}, 3) AS taken`;
const RELEASE_LOCK = `SELECT RELEASE_LOCK(${LOCK_NAME})`;

// `lock` claims in the same way; what is locked while the jobs run is the row that its claims name.
const SKIP_LOCKED: ClaimWay = {
  claim: (request, start) => claimSkippingLocked(request, start),
  waitsBehind,
  mayShare: true,
};
const BEHIND_ACTIVE: ClaimWay = { ...SKIP_LOCKED, claim: claimBehindActive };

/** MySQL 8.0.13 up. */
export const mysql: Dialect = {
  now: NOW,
  claims: {
    'skip-locked': SKIP_LOCKED,
    optimistic: { claim: claimFree, mayShare: false },
    update: { mark: markFirst, claim: (request, _, marked) => listMarked(request, marked), mayShare: false },
    lock: SKIP_LOCKED,
  },
  refusals: {},

  *addQueue(queue: string): Work<void> {
    yield* change(ADD_QUEUE, { queue });
  },

  *addKeys(keys: readonly KeyName[]): Work<void> {
    const rows = keys.map(({ queue, hash }) => [queue, hash, KEPT_MS]);
    yield* change(ADD_KEYS, { rows: new Rows('(?, ?, :now + ?)', rows) });
  },

  hasOneWriter: false,

  queueNames,

  *nextId(): Work<number> {
    const [row] = yield* query<Record<string, string>>(TABLE);
    // A table without any rows so far does not say it.
    return Number(/ AUTO_INCREMENT=(\d+)/.exec(row!['Create Table']!)?.[1] ?? 1);
  },

  lock: {
    *take(): Work<boolean> {
      const [row] = yield* query<{ taken: number }>(TAKE_LOCK);
      return row?.taken === 1;
    },
    *release(): Work<void> {
      yield* query(RELEASE_LOCK);
    },
  },
};

/** MariaDB 10.6 up. */
export const mariadb: Dialect = {
  ...mysql,
  claims: { ...mysql.claims, 'skip-locked': BEHIND_ACTIVE, lock: BEHIND_ACTIVE },
};
