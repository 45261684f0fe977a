import { bigint, nullable, primary, tableSchema, text, varchar } from './columns.js';

export const auditTables = {
  /** The changes that administrators have made. */
  audit: tableSchema({
    entity: 'SqlQueueAudit',
    columns: {
      /** A random number. */
      id: primary(bigint('id')),
      verb: varchar('verb', 50),
      /** The queue of the change; null: none, or several. */
      queue: nullable(varchar('queue', 100)),
      /** The administrator of `QueueAdmin.as`; null: not given. */
      madeBy: nullable(varchar('made_by', 255)),
      /** JSON: the selection and the options of the call. */
      details: text('details'),
      /** The number of changed jobs, queues or other things. */
      changed: bigint('changed'),
      /** The time of the last change of the call. */
      changedAt: bigint('changed_at'),
    },
    indexes: {
      time: ['changedAt', 'id'],
      queue: ['queue', 'changedAt', 'id'],
      made_by: ['madeBy', 'changedAt', 'id'],
      verb: ['verb', 'changedAt', 'id'],
    },
  }),
};
