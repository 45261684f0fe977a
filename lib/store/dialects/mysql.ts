import type { ClaimWay, Dialect, LiveCount } from '../sql/dialect.js';
import { waitsBehind } from '../claims/claimable.js';
import { claimFree } from '../claims/optimistic.js';
import { claimBehindActive, claimSkippingLocked } from '../claims/skip-locked.js';
import { claimByUpdate } from '../claims/update.js';
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

// The claim's index alone: at a million jobs their rows would be gigabytes.
const COUNT_BY_INDEX = `
  SELECT queue, runnable, COUNT(*) AS jobs
  FROM {jobs} FORCE INDEX ({jobs}_claim)
  WHERE :queue IS NULL OR queue = :queue
  GROUP BY queue, runnable`;

const CLAIMED_IDS = `
  SELECT job_ids
  FROM {claims}
  WHERE :queue IS NULL OR queue = :queue`;

const COUNT_ACTIVE = `
  SELECT queue, COUNT(*) AS jobs
  FROM {jobs} FORCE INDEX (PRIMARY)
  WHERE id IN (:ids) AND state = 'active'
  GROUP BY queue`;

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
    update: { claim: claimByUpdate, mayShare: false },
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

  *countLive(queue: string | null): Work<LiveCount[]> {
    const counts: LiveCount[] = [];
    for (const row of yield* query<{ queue: string; runnable: number; jobs: number }>(COUNT_BY_INDEX, {
      queue,
    })) {
      counts.push({
        queue: row.queue,
        state: row.runnable ? 'waiting' : 'scheduled',
        jobs: Number(row.jobs),
      });
    }
    const claims = yield* query<{ job_ids: string }>(CLAIMED_IDS, { queue });
    // A job that was handed off is on the lists of two.
    const ids = [...new Set(claims.flatMap(({ job_ids }) => JSON.parse(job_ids) as number[]))];
    for (let from = 0; from < ids.length; from += 1_000) {
      for (const row of yield* query<{ queue: string; jobs: number }>(COUNT_ACTIVE, {
        ids: ids.slice(from, from + 1_000),
      })) {
        counts.push({ queue: row.queue, state: 'active', jobs: Number(row.jobs) });
        counts.push({ queue: row.queue, state: 'waiting', jobs: -Number(row.jobs) });
      }
    }
    return counts;
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
