// Checked by `npm run typecheck`, never run: the rows that applications may read are those of jobs and of the history.
export type { SqlQueueHistoryRow, SqlQueueJobRow } from 'nestjs-sql-queue';
// @ts-expect-error the other tables are the library's own
export type { SqlQueueClaimRow } from 'nestjs-sql-queue';
// @ts-expect-error the other tables are the library's own
export type { SqlQueueKeyRow } from 'nestjs-sql-queue';
