// Frozen with the first release: each later change is a migration of its own (record 47).

const WORD = (length: number) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;
const GROUP_KEY = `VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
const JSON_TEXT = `LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;

export const GROUPS_MYSQL = [
  // One statement, which the server does as a whole or not at all. The index has another name than before, so that
  // claims of the earlier release, which would sort the whole queue, fail with an error.
  `
  ALTER TABLE {jobs}
    ADD COLUMN group_key ${GROUP_KEY} NOT NULL DEFAULT '',
    ALTER COLUMN runnable SET DEFAULT (IF(run_at IS NULL, IF(group_key = '', 1, 4), 0)),
    DROP INDEX {jobs}_claim,
    ADD INDEX {jobs}_queue (queue, runnable, run_at, group_key, priority, id)`,
  `
  CREATE TABLE IF NOT EXISTS {groups} (
    queue ${WORD(100)} NOT NULL,
    group_key ${GROUP_KEY} NOT NULL,
    state ${WORD(10)} NOT NULL,
    turn BIGINT NOT NULL,
    head_priority INT NOT NULL,
    head_id BIGINT NOT NULL,
    active_ids ${JSON_TEXT} NULL,
    overrides ${JSON_TEXT} NULL,
    rate_until_us BIGINT NOT NULL DEFAULT 0,
    rate_used INT NOT NULL DEFAULT 0,
    rest_until BIGINT NOT NULL DEFAULT 0,
    rest_ms BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (queue, group_key),
    KEY {groups}_turn (queue, state, turn, group_key)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
];

// A default cannot read another column here, so a plain INSERT with a group makes a job with runnable = 1.
export const GROUPS_SQLITE = [
  `ALTER TABLE {jobs} ADD COLUMN group_key VARCHAR(100) NOT NULL DEFAULT ''`,
  `DROP INDEX IF EXISTS {jobs}_claim`,
  `CREATE INDEX IF NOT EXISTS {jobs}_queue ON {jobs} (queue, runnable, run_at, group_key, priority, id)`,
  `
  CREATE TABLE IF NOT EXISTS {groups} (
    queue VARCHAR(100) NOT NULL,
    group_key VARCHAR(100) NOT NULL,
    state VARCHAR(10) NOT NULL,
    turn BIGINT NOT NULL,
    head_priority INT NOT NULL,
    head_id BIGINT NOT NULL,
    active_ids TEXT NULL,
    overrides TEXT NULL,
    rate_until_us BIGINT NOT NULL DEFAULT 0,
    rate_used INT NOT NULL DEFAULT 0,
    rest_until BIGINT NOT NULL DEFAULT 0,
    rest_ms BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (queue, group_key)
  )`,
  `CREATE INDEX IF NOT EXISTS {groups}_turn ON {groups} (queue, state, turn, group_key)`,
];

// Jobs of groups become jobs without a group.
export const GROUPS_DOWN_MYSQL = [
  `UPDATE {jobs} SET runnable = 1 WHERE runnable > 2`,
  `
  ALTER TABLE {jobs}
    DROP INDEX {jobs}_queue,
    ADD INDEX {jobs}_claim (queue, runnable, run_at, priority, id),
    ALTER COLUMN runnable SET DEFAULT (run_at IS NULL),
    DROP COLUMN group_key`,
  `DROP TABLE IF EXISTS {groups}`,
];

export const GROUPS_DOWN_SQLITE = [
  `UPDATE {jobs} SET runnable = 1 WHERE runnable > 2`,
  `DROP INDEX IF EXISTS {jobs}_queue`,
  `CREATE INDEX IF NOT EXISTS {jobs}_claim ON {jobs} (queue, runnable, run_at, priority, id)`,
  `ALTER TABLE {jobs} DROP COLUMN group_key`,
  `DROP TABLE IF EXISTS {groups}`,
];
