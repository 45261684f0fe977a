// Frozen with the first release: each later change is a migration of its own (record 47).

const WORD = (length: number) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;
const JSON_TEXT = `LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;

export const FLOWS_MYSQL = [
  `
  CREATE TABLE IF NOT EXISTS {flows} (
    id BIGINT NOT NULL AUTO_INCREMENT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    KEY {flows}_expiry (expires_at)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
  // The state and the outcome are CHAR, so that their change does not change the length of the row.
  `
  CREATE TABLE IF NOT EXISTS {edges} (
    job_id BIGINT NOT NULL,
    needs BIGINT NOT NULL,
    queue ${WORD(100)} NOT NULL,
    name ${WORD(100)} NOT NULL,
    on_failure ${WORD(10)} NOT NULL,
    fan_out INT NOT NULL DEFAULT 0,
    state CHAR(6) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'open',
    outcome CHAR(9) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    result ${JSON_TEXT} NULL,
    error ${JSON_TEXT} NULL,
    PRIMARY KEY (job_id, needs),
    KEY {edges}_needs (needs)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

export const FLOWS_SQLITE = [
  `
  CREATE TABLE IF NOT EXISTS {flows} (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS {flows}_expiry ON {flows} (expires_at)`,
  `
  CREATE TABLE IF NOT EXISTS {edges} (
    job_id BIGINT NOT NULL,
    needs BIGINT NOT NULL,
    queue VARCHAR(100) NOT NULL,
    name VARCHAR(100) NOT NULL,
    on_failure VARCHAR(10) NOT NULL,
    fan_out INT NOT NULL DEFAULT 0,
    state VARCHAR(6) NOT NULL DEFAULT 'open',
    outcome VARCHAR(9) NOT NULL DEFAULT '',
    result TEXT NULL,
    error TEXT NULL,
    PRIMARY KEY (job_id, needs)
  )`,
  `CREATE INDEX IF NOT EXISTS {edges}_needs ON {edges} (needs)`,
];
