// Frozen with the first release: each later change is a migration of its own (record 47).

export const STATS_MYSQL = [
  `
  CREATE TABLE IF NOT EXISTS {stats} (
    id BIGINT NOT NULL,
    sample LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    sampled_at BIGINT NOT NULL DEFAULT 0,
    took_ms BIGINT NOT NULL DEFAULT 0,
    lease_until BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (id)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

export const STATS_SQLITE = [
  `
  CREATE TABLE IF NOT EXISTS {stats} (
    id BIGINT NOT NULL PRIMARY KEY,
    sample TEXT NULL,
    sampled_at BIGINT NOT NULL DEFAULT 0,
    took_ms BIGINT NOT NULL DEFAULT 0,
    lease_until BIGINT NOT NULL DEFAULT 0
  )`,
];
