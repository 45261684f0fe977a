// Frozen with the first release: each later change is a migration of its own (record 47).

const WORD = (length: number) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;
const JSON_TEXT = `LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;

export const STEPS_MYSQL = [
  `
  CREATE TABLE IF NOT EXISTS {steps} (
    job_id BIGINT NOT NULL,
    name ${WORD(100)} NOT NULL,
    state ${WORD(10)} NOT NULL,
    result ${JSON_TEXT} NULL,
    until_at BIGINT NULL,
    signal_hash ${WORD(64)} NULL,
    signal_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (job_id, name),
    KEY {steps}_signal (signal_hash, job_id, name),
    KEY {steps}_expiry (expires_at)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
  `
  CREATE TABLE IF NOT EXISTS {signals} (
    hash ${WORD(64)} NOT NULL,
    name ${WORD(100)} NOT NULL,
    signal_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    data ${JSON_TEXT} NULL,
    sent_at BIGINT NOT NULL,
    awaited TINYINT NOT NULL DEFAULT 0,
    PRIMARY KEY (hash),
    KEY {signals}_sent (sent_at)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

export const STEPS_SQLITE = [
  `
  CREATE TABLE IF NOT EXISTS {steps} (
    job_id BIGINT NOT NULL,
    name VARCHAR(100) NOT NULL,
    state VARCHAR(10) NOT NULL,
    result TEXT NULL,
    until_at BIGINT NULL,
    signal_hash VARCHAR(64) NULL,
    signal_key VARCHAR(255) NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (job_id, name)
  )`,
  `CREATE INDEX IF NOT EXISTS {steps}_signal ON {steps} (signal_hash, job_id, name)`,
  `CREATE INDEX IF NOT EXISTS {steps}_expiry ON {steps} (expires_at)`,
  `
  CREATE TABLE IF NOT EXISTS {signals} (
    hash VARCHAR(64) NOT NULL PRIMARY KEY,
    name VARCHAR(100) NOT NULL,
    signal_key VARCHAR(255) NOT NULL,
    data TEXT NULL,
    sent_at BIGINT NOT NULL,
    awaited TINYINT NOT NULL DEFAULT 0
  )`,
  `CREATE INDEX IF NOT EXISTS {signals}_sent ON {signals} (sent_at)`,
];
