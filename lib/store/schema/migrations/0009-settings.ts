// Frozen with the first release: each later change is a migration of its own (record 47).

export const SETTINGS_MYSQL = [
  `ALTER TABLE {queues} ADD COLUMN settings LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL`,
];

export const SETTINGS_SQLITE = [`ALTER TABLE {queues} ADD COLUMN settings TEXT NULL`];
