// Frozen with the first release: each later change is a migration of its own (record 47).

export const SUBJECTS_MYSQL = [
  `
  CREATE TABLE IF NOT EXISTS {subjects} (
    subject VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    job_id BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    blobs TEXT NULL,
    PRIMARY KEY (subject, job_id),
    KEY {subjects}_expiry (expires_at)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

export const SUBJECTS_SQLITE = [
  `
  CREATE TABLE IF NOT EXISTS {subjects} (
    subject VARCHAR(255) NOT NULL,
    job_id BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    blobs TEXT NULL,
    PRIMARY KEY (subject, job_id)
  )`,
  `
  CREATE INDEX IF NOT EXISTS {subjects}_expiry ON {subjects} (expires_at)`,
];
