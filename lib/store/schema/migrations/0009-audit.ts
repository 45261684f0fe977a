// Frozen with the first release: each later change is a migration of its own (record 47).

export const AUDIT_MYSQL = [
  `
  CREATE TABLE IF NOT EXISTS {audit} (
    id BIGINT NOT NULL,
    verb VARCHAR(50) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    queue VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL,
    made_by VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    details LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    changed BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (id),
    KEY {audit}_time (changed_at, id),
    KEY {audit}_queue (queue, changed_at, id),
    KEY {audit}_made_by (made_by, changed_at, id),
    KEY {audit}_verb (verb, changed_at, id)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

export const AUDIT_SQLITE = [
  `
  CREATE TABLE IF NOT EXISTS {audit} (
    id BIGINT NOT NULL PRIMARY KEY,
    verb VARCHAR(50) NOT NULL,
    queue VARCHAR(100) NULL,
    made_by VARCHAR(255) NULL,
    details TEXT NOT NULL,
    changed BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
  )`,
  `
  CREATE INDEX IF NOT EXISTS {audit}_time ON {audit} (changed_at, id)`,
  `
  CREATE INDEX IF NOT EXISTS {audit}_queue ON {audit} (queue, changed_at, id)`,
  `
  CREATE INDEX IF NOT EXISTS {audit}_made_by ON {audit} (made_by, changed_at, id)`,
  `
  CREATE INDEX IF NOT EXISTS {audit}_verb ON {audit} (verb, changed_at, id)`,
];
