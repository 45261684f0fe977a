// Frozen with the first release: each later change is a migration of its own (record 47).

const JSON_TEXT = `LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;

export const LIMITS_MYSQL = [
  `
  CREATE TABLE IF NOT EXISTS {limits} (
    queue VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    declared ${JSON_TEXT} NULL,
    overrides ${JSON_TEXT} NULL,
    rate_until_us BIGINT NOT NULL DEFAULT 0,
    rate_used INT NOT NULL DEFAULT 0,
    rest_until BIGINT NOT NULL DEFAULT 0,
    rest_ms BIGINT NOT NULL DEFAULT 0,
    claim_count BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (queue)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

export const LIMITS_SQLITE = [
  `
  CREATE TABLE IF NOT EXISTS {limits} (
    queue VARCHAR(100) NOT NULL PRIMARY KEY,
    declared TEXT NULL,
    overrides TEXT NULL,
    rate_until_us BIGINT NOT NULL DEFAULT 0,
    rate_used INT NOT NULL DEFAULT 0,
    rest_until BIGINT NOT NULL DEFAULT 0,
    rest_ms BIGINT NOT NULL DEFAULT 0,
    claim_count BIGINT NOT NULL DEFAULT 0
  )`,
];
