// Checked by `npm run typecheck`, never run: applications may read the rows of jobs and of the history.
export type { SqlQueueHistoryRow, SqlQueueJobRow } from 'nestjs-sql-queue';
// @ts-expect-error other tables are private to the library
export type { SqlQueueClaimRow } from 'nestjs-sql-queue';
// @ts-expect-error other tables are private to the library
export type { SqlQueueKeyRow } from 'nestjs-sql-queue';
