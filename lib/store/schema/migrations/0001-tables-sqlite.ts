// Frozen with the first release: each later change is a migration of its own (record 47).

const NOW = `CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)`;

// Without AUTOINCREMENT, SQLite would reuse the id of a deleted job, which would collide in the history. A default
// cannot read another column here, so a plain INSERT with run_at makes a runnable job. Claims skip it until it is due.
const JOBS = `
  CREATE TABLE IF NOT EXISTS {jobs} (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    queue VARCHAR(100) NOT NULL,
    name VARCHAR(100) NOT NULL DEFAULT 'default',
    run_at BIGINT NULL,
    state VARCHAR(10) NOT NULL DEFAULT 'waiting',
    runnable TINYINT NOT NULL DEFAULT 1,
    priority SMALLINT NOT NULL DEFAULT 0,
    attempt INT NOT NULL DEFAULT 0,
    max_attempts INT NULL DEFAULT 0,
    claim_id BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL DEFAULT (${NOW}),
    payload TEXT NOT NULL,
    headers TEXT NULL,
    options TEXT NULL,
    error TEXT NULL,
    due_at BIGINT NULL
  )`;

const CLAIMS = `
  CREATE TABLE IF NOT EXISTS {claims} (
    id BIGINT NOT NULL PRIMARY KEY,
    worker_id VARCHAR(36) NOT NULL,
    queue VARCHAR(100) NOT NULL,
    job_ids TEXT NOT NULL,
    start_limit INT NOT NULL,
    lock_id BIGINT NOT NULL DEFAULT 0,
    lease_ms BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    claimed_at BIGINT NOT NULL,
    cancel_requests TEXT NULL,
    owner VARCHAR(255) NULL,
    dead_letter VARCHAR(100) NULL,
    snoozed_until BIGINT NULL
  )`;

export const HISTORY = `
  CREATE TABLE IF NOT EXISTS {history} (
    id BIGINT NOT NULL PRIMARY KEY,
    queue VARCHAR(100) NOT NULL,
    name VARCHAR(100) NOT NULL,
    state VARCHAR(10) NOT NULL,
    priority SMALLINT NOT NULL,
    attempt INT NOT NULL,
    max_attempts INT NULL,
    worker_id VARCHAR(36) NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT NULL,
    finished_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    payload TEXT NOT NULL,
    headers TEXT NULL,
    options TEXT NULL,
    result TEXT NULL,
    error TEXT NULL,
    due_at BIGINT NULL,
    owner VARCHAR(255) NULL
  )`;

const QUEUES = `
  CREATE TABLE IF NOT EXISTS {queues} (
    queue VARCHAR(100) NOT NULL PRIMARY KEY,
    paused TINYINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_after_ms BIGINT NULL,
    used_at BIGINT NULL
  )`;

const SUBSCRIPTIONS = `
  CREATE TABLE IF NOT EXISTS {subscriptions} (
    queue VARCHAR(100) NOT NULL,
    topic VARCHAR(100) NOT NULL,
    header_filter TEXT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (queue, topic)
  )`;

const WORKERS = `
  CREATE TABLE IF NOT EXISTS {workers} (
    id VARCHAR(36) NOT NULL PRIMARY KEY,
    host VARCHAR(255) NOT NULL,
    pid INT NOT NULL,
    queues TEXT NOT NULL,
    excluded TEXT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
  )`;

// Unused on SQLite, which has no connection to lose. It keeps the tables equal on all databases.
const COMMIT_LOG = `
  CREATE TABLE IF NOT EXISTS {commit_log} (
    id BIGINT NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    first_id BIGINT NOT NULL,
    id_step BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
  )`;

const STAGES = `
  CREATE TABLE IF NOT EXISTS {stages} (
    job_id BIGINT NOT NULL PRIMARY KEY,
    queue VARCHAR(100) NOT NULL,
    stage VARCHAR(100) NOT NULL,
    priority SMALLINT NOT NULL
  )`;

// Empty unless a caller waits for a result.
const WAITS = `
  CREATE TABLE IF NOT EXISTS {waits} (
    waiter BIGINT NOT NULL,
    job_id BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (waiter, job_id)
  )`;

// A job that reports no progress and logs nothing has no row.
const PROGRESS = `
  CREATE TABLE IF NOT EXISTS {progress} (
    job_id BIGINT NOT NULL PRIMARY KEY,
    value TEXT NULL,
    lines_logged INT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`;

const LOGS = `
  CREATE TABLE IF NOT EXISTS {logs} (
    job_id BIGINT NOT NULL,
    number INT NOT NULL,
    logged_at BIGINT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (job_id, number)
  )`;

const EVENTS = `
  CREATE TABLE IF NOT EXISTS {events} (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    event VARCHAR(20) NOT NULL,
    queue VARCHAR(100) NOT NULL,
    job_id BIGINT NOT NULL,
    name VARCHAR(100) NOT NULL,
    attempt INT NOT NULL,
    ran_ms BIGINT NULL,
    delay_ms BIGINT NULL,
    recorded_at BIGINT NOT NULL,
    result TEXT NULL,
    error TEXT NULL,
    owner VARCHAR(255) NULL
  )`;

// Unused on SQLite, which has no row locks.
const LOCKS = `
  CREATE TABLE IF NOT EXISTS {locks} (
    id BIGINT NOT NULL PRIMARY KEY,
    worker_id VARCHAR(36) NOT NULL,
    locked_at BIGINT NOT NULL
  )`;

const KEYS = `
  CREATE TABLE IF NOT EXISTS {keys} (
    queue VARCHAR(100) NOT NULL,
    key_hash VARCHAR(64) NOT NULL,
    job_id BIGINT NOT NULL DEFAULT 0,
    key_until VARCHAR(10) NOT NULL DEFAULT 'finished',
    expires_at BIGINT NULL,
    kept_until BIGINT NOT NULL,
    PRIMARY KEY (queue, key_hash)
  )`;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS {schema} (
    version INT NOT NULL PRIMARY KEY,
    applied_at BIGINT NOT NULL
  )`;

const INDEXES = [
  `CREATE INDEX IF NOT EXISTS {jobs}_claim ON {jobs} (queue, runnable, run_at, priority, id)`,
  `CREATE INDEX IF NOT EXISTS {history}_expiry ON {history} (expires_at)`,
  `CREATE INDEX IF NOT EXISTS {stages}_claim ON {stages} (queue, stage, priority, job_id)`,
  `CREATE INDEX IF NOT EXISTS {progress}_expiry ON {progress} (expires_at)`,
  `CREATE INDEX IF NOT EXISTS {waits}_expiry ON {waits} (expires_at)`,
  `CREATE INDEX IF NOT EXISTS {waits}_job ON {waits} (job_id, waiter)`,
  `CREATE INDEX IF NOT EXISTS {history}_state ON {history} (queue, state, id)`,
  `CREATE INDEX IF NOT EXISTS {subscriptions}_topic ON {subscriptions} (topic)`,
  `CREATE INDEX IF NOT EXISTS {keys}_unused ON {keys} (kept_until)`,
];

export const TABLES_SQLITE = [
  JOBS,
  CLAIMS,
  HISTORY,
  QUEUES,
  SUBSCRIPTIONS,
  WORKERS,
  COMMIT_LOG,
  STAGES,
  WAITS,
  PROGRESS,
  LOGS,
  EVENTS,
  LOCKS,
  KEYS,
  SCHEMA,
  ...INDEXES,
];
