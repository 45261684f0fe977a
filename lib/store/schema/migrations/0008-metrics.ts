// Frozen with the first release: each later change is a migration of its own (record 47).

export const METRICS_MYSQL = [
  `
  CREATE TABLE IF NOT EXISTS {metrics} (
    queue VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    step_ms BIGINT NOT NULL,
    starts_at BIGINT NOT NULL,
    recorder BIGINT NOT NULL,
    completed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    dead BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    waits LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    runs LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    PRIMARY KEY (queue, step_ms, starts_at, recorder),
    KEY {metrics}_fold (step_ms, starts_at)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

export const METRICS_SQLITE = [
  `
  CREATE TABLE IF NOT EXISTS {metrics} (
    queue VARCHAR(100) NOT NULL,
    step_ms BIGINT NOT NULL,
    starts_at BIGINT NOT NULL,
    recorder BIGINT NOT NULL,
    completed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    dead BIGINT NOT NULL,
    cancelled BIGINT NOT NULL,
    waits TEXT NOT NULL,
    runs TEXT NOT NULL,
    PRIMARY KEY (queue, step_ms, starts_at, recorder)
  )`,
  `
  CREATE INDEX IF NOT EXISTS {metrics}_fold ON {metrics} (step_ms, starts_at)`,
];
