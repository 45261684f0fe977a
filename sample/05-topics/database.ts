import type { DataSourceOptions } from 'typeorm';

/** One file in the current folder, for the publisher and all consumers. */
export const database: DataSourceOptions = { type: 'better-sqlite3', database: './topics.sqlite', enableWAL: true };
