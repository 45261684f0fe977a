// Frozen with the first release: each later change is a migration of its own (record 47).

const NAME = `VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL`;
const WORD = (length: number) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;
const JSON_TEXT = `LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;

export const SCHEDULES_MYSQL = [
  `
  CREATE TABLE IF NOT EXISTS {schedules} (
    name ${NAME},
    queue ${NAME},
    job_name ${NAME},
    cron ${WORD(200)} NULL,
    every_ms BIGINT NULL,
    tz ${WORD(100)} NOT NULL,
    payload ${JSON_TEXT} NOT NULL,
    headers ${JSON_TEXT} NULL,
    options ${JSON_TEXT} NULL,
    priority SMALLINT NOT NULL,
    max_attempts INT NULL,
    missed ${WORD(10)} NOT NULL,
    missed_limit INT NOT NULL,
    overlap ${WORD(20)} NOT NULL,
    jitter_ms BIGINT NOT NULL,
    until_at BIGINT NULL,
    next_at BIGINT NULL,
    last_at BIGINT NULL,
    last_job_id BIGINT NULL,
    paused TINYINT NOT NULL DEFAULT 0,
    source ${WORD(10)} NOT NULL,
    digest ${WORD(64)} NULL,
    revision ${WORD(100)} NULL,
    declared_at BIGINT NULL,
    PRIMARY KEY (name),
    KEY {schedules}_next (next_at)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

export const SCHEDULES_SQLITE = [
  `
  CREATE TABLE IF NOT EXISTS {schedules} (
    name VARCHAR(100) NOT NULL PRIMARY KEY,
    queue VARCHAR(100) NOT NULL,
    job_name VARCHAR(100) NOT NULL,
    cron VARCHAR(200) NULL,
    every_ms BIGINT NULL,
    tz VARCHAR(100) NOT NULL,
    payload TEXT NOT NULL,
    headers TEXT NULL,
    options TEXT NULL,
    priority SMALLINT NOT NULL,
    max_attempts INT NULL,
    missed VARCHAR(10) NOT NULL,
    missed_limit INT NOT NULL,
    overlap VARCHAR(20) NOT NULL,
    jitter_ms BIGINT NOT NULL,
    until_at BIGINT NULL,
    next_at BIGINT NULL,
    last_at BIGINT NULL,
    last_job_id BIGINT NULL,
    paused TINYINT NOT NULL DEFAULT 0,
    source VARCHAR(10) NOT NULL,
    digest VARCHAR(64) NULL,
    revision VARCHAR(100) NULL,
    declared_at BIGINT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS {schedules}_next ON {schedules} (next_at)`,
];
