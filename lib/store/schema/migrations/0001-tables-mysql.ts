// Frozen with the first release: each later change is a migration of its own (record 47).

const NOW = `TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(3)) DIV 1000`;
const NAME = `VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL`;
const JSON_TEXT = `LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
const WORKER_ID = `VARCHAR(36) CHARACTER SET ascii COLLATE ascii_bin`;
const OWNER = `VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
const STATE = `VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL`;
// CHAR, so that a change of the state does not change the length of the row.
const LIVE_STATE = `CHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL`;
const INNODB = `ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;

// A plain INSERT of queue and payload makes a complete job by the defaults of state and runnable. If it also sets
// run_at, it makes a scheduled job. A claim changes no column's length, so InnoDB updates the row in place: half the
// cost of a row that grows, because jobs enqueued one after another fill their pages.
const JOBS = `
  CREATE TABLE IF NOT EXISTS {jobs} (
    id BIGINT NOT NULL AUTO_INCREMENT,
    queue ${NAME},
    name ${NAME} DEFAULT 'default',
    run_at BIGINT NULL,
    state ${LIVE_STATE} DEFAULT (IF(run_at IS NULL, 'waiting', 'scheduled')),
    runnable TINYINT NOT NULL DEFAULT (run_at IS NULL),
    priority SMALLINT NOT NULL DEFAULT 0,
    attempt INT NOT NULL DEFAULT 0,
    max_attempts INT NULL DEFAULT 0,
    claim_id BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL DEFAULT (${NOW}),
    payload ${JSON_TEXT} NOT NULL,
    headers ${JSON_TEXT} NULL,
    options ${JSON_TEXT} NULL,
    error ${JSON_TEXT} NULL,
    due_at BIGINT NULL,
    PRIMARY KEY (id),
    KEY {jobs}_claim (queue, runnable, run_at, priority, id)
  ) ${INNODB}`;

const CLAIMS = `
  CREATE TABLE IF NOT EXISTS {claims} (
    id BIGINT NOT NULL,
    worker_id ${WORKER_ID} NOT NULL,
    queue ${NAME},
    job_ids ${JSON_TEXT} NOT NULL,
    start_limit INT NOT NULL,
    lock_id BIGINT NOT NULL DEFAULT 0,
    lease_ms BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    claimed_at BIGINT NOT NULL,
    cancel_requests ${JSON_TEXT} NULL,
    owner ${OWNER} NULL,
    dead_letter VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL,
    snoozed_until BIGINT NULL,
    PRIMARY KEY (id)
  ) ${INNODB}`;

export const HISTORY = `
  CREATE TABLE IF NOT EXISTS {history} (
    id BIGINT NOT NULL,
    queue ${NAME},
    name ${NAME},
    state ${STATE},
    priority SMALLINT NOT NULL,
    attempt INT NOT NULL,
    max_attempts INT NULL,
    worker_id ${WORKER_ID} NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT NULL,
    finished_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    payload ${JSON_TEXT} NOT NULL,
    headers ${JSON_TEXT} NULL,
    options ${JSON_TEXT} NULL,
    result ${JSON_TEXT} NULL,
    error ${JSON_TEXT} NULL,
    due_at BIGINT NULL,
    owner ${OWNER} NULL,
    PRIMARY KEY (id),
    KEY {history}_expiry (expires_at),
    KEY {history}_state (queue, state, id)
  ) ${INNODB}`;

const QUEUES = `
  CREATE TABLE IF NOT EXISTS {queues} (
    queue ${NAME},
    paused TINYINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_after_ms BIGINT NULL,
    used_at BIGINT NULL,
    PRIMARY KEY (queue)
  ) ${INNODB}`;

const SUBSCRIPTIONS = `
  CREATE TABLE IF NOT EXISTS {subscriptions} (
    queue ${NAME},
    topic ${NAME},
    header_filter ${JSON_TEXT} NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (queue, topic),
    KEY {subscriptions}_topic (topic)
  ) ${INNODB}`;

const WORKERS = `
  CREATE TABLE IF NOT EXISTS {workers} (
    id ${WORKER_ID} NOT NULL,
    host VARCHAR(255) NOT NULL,
    pid INT NOT NULL,
    queues ${JSON_TEXT} NOT NULL,
    excluded ${JSON_TEXT} NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (id)
  ) ${INNODB}`;

const COMMIT_LOG = `
  CREATE TABLE IF NOT EXISTS {commit_log} (
    id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    first_id BIGINT NOT NULL,
    id_step BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (id)
  ) ${INNODB}`;

const STAGES = `
  CREATE TABLE IF NOT EXISTS {stages} (
    job_id BIGINT NOT NULL,
    queue ${NAME},
    stage VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    priority SMALLINT NOT NULL,
    PRIMARY KEY (job_id),
    KEY {stages}_claim (queue, stage, priority, job_id)
  ) ${INNODB}`;

// Empty unless a caller waits for a result.
const WAITS = `
  CREATE TABLE IF NOT EXISTS {waits} (
    waiter BIGINT NOT NULL,
    job_id BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (waiter, job_id),
    KEY {waits}_expiry (expires_at),
    KEY {waits}_job (job_id, waiter)
  ) ${INNODB}`;

// A job that reports no progress and logs nothing has no row.
const PROGRESS = `
  CREATE TABLE IF NOT EXISTS {progress} (
    job_id BIGINT NOT NULL,
    value ${JSON_TEXT} NULL,
    lines_logged INT NOT NULL,
    updated_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (job_id),
    KEY {progress}_expiry (expires_at)
  ) ${INNODB}`;

const LOGS = `
  CREATE TABLE IF NOT EXISTS {logs} (
    job_id BIGINT NOT NULL,
    number INT NOT NULL,
    logged_at BIGINT NOT NULL,
    line ${JSON_TEXT} NOT NULL,
    PRIMARY KEY (job_id, number)
  ) ${INNODB}`;

const EVENTS = `
  CREATE TABLE IF NOT EXISTS {events} (
    id BIGINT NOT NULL AUTO_INCREMENT,
    event VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    queue ${NAME},
    job_id BIGINT NOT NULL,
    name ${NAME},
    attempt INT NOT NULL,
    ran_ms BIGINT NULL,
    delay_ms BIGINT NULL,
    recorded_at BIGINT NOT NULL,
    result ${JSON_TEXT} NULL,
    error ${JSON_TEXT} NULL,
    owner ${OWNER} NULL,
    PRIMARY KEY (id)
  ) ${INNODB}`;

const LOCKS = `
  CREATE TABLE IF NOT EXISTS {locks} (
    id BIGINT NOT NULL,
    worker_id ${WORKER_ID} NOT NULL,
    locked_at BIGINT NOT NULL,
    PRIMARY KEY (id)
  ) ${INNODB}`;

// The state of its job decides whether a key is owned. No row changes here when the job is claimed or ends.
const KEYS = `
  CREATE TABLE IF NOT EXISTS {keys} (
    queue ${NAME},
    key_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    job_id BIGINT NOT NULL DEFAULT 0,
    key_until VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'finished',
    expires_at BIGINT NULL,
    kept_until BIGINT NOT NULL,
    PRIMARY KEY (queue, key_hash),
    KEY {keys}_unused (kept_until)
  ) ${INNODB}`;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS {schema} (
    version INT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (version)
  ) ${INNODB}`;

export const TABLES_MYSQL = [
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
];
