import { bigint, primary } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The commit lanes: each row counts the transactions that a process commits one after another. */
export const commitLogTable = tableSchema({
  table: 'commit_log',
  entity: 'SqlQueueCommitLog',
  columns: {
    id: primary(bigint('id')),
    /** The number of the last committed transaction; -1 after the lane was closed. */
    number: bigint('number'),
    /** The first id of the last INSERT. */
    firstId: bigint('first_id'),
    /** The step between the ids of the last INSERT. */
    idStep: bigint('id_step'),
    seenAt: bigint('seen_at'),
  },
});
