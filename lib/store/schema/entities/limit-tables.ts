import { bigint, int, nullable, primary, tableSchema, text, varchar, withDefault } from './columns.js';

/** The tables of limits and groups. */
export const limitTables = {
  /** The limits of queues over all processes, and how much of them is used up. A queue without limits needs no row. */
  limits: tableSchema({
    entity: 'SqlQueueLimits',
    columns: {
      queue: primary(varchar('queue', 100)),
      /** JSON: the limits from the options of the last process that declared others; null: none. */
      declared: nullable(text('declared')),
      /** JSON: the limits that `QueueAdmin.limit` has set instead; null: none. */
      overrides: nullable(text('overrides')),
      /** The time up to which jobs have used the rate; of a fixed window its end. In microseconds. */
      rateUntilUs: withDefault(bigint('rate_until_us'), 0),
      /** The jobs that have started in the fixed window. */
      rateUsed: withDefault(int('rate_used'), 0),
      /** No job starts before this time. */
      restUntil: withDefault(bigint('rest_until'), 0),
      /** Changes with each claim within the limits, so that claims on two nodes of a cluster conflict. */
      claimCount: withDefault(bigint('claim_count'), 0),
    },
  }),

  /** The groups of queues, except those that were idle for an hour. */
  groups: tableSchema({
    entity: 'SqlQueueGroup',
    columns: {
      queue: primary(varchar('queue', 100)),
      groupKey: primary(varchar('group_key', 100)),
      /** `idle`: no job waits. `ready`: in the rotation. `blocked`: at a limit, until `turn` or until a job ends. */
      state: varchar<'idle' | 'ready' | 'blocked' | 'paused'>('state', 10),
      /** The time of the last turn, or of the next look at a blocked group. */
      turn: bigint('turn'),
      /** No job waits in the group up to this priority and id. */
      headPriority: int('head_priority'),
      headId: bigint('head_id'),
      /** JSON: the jobs that count against the limit of the group. Some of them may have ended. */
      activeIds: nullable(text('active_ids')),
      /** JSON: the limits and the weight that `QueueAdmin.group` has set; null: none. */
      overrides: nullable(text('overrides')),
      /** The time up to which jobs have used the rate; of a fixed window its end. In microseconds. */
      rateUntilUs: withDefault(bigint('rate_until_us'), 0),
      /** The jobs that have started in the fixed window. */
      rateUsed: withDefault(int('rate_used'), 0),
      /** No job starts before this time. */
      restUntil: withDefault(bigint('rest_until'), 0),
    },
    indexes: { turn: ['queue', 'state', 'turn'] },
  }),
};
