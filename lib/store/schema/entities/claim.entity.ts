import { bigint, int, nullable, primary, text, varchar, withDefault } from './columns.js';
import { tableSchema } from './table-schema.js';

/** The claims of workers and of claim holders: whose jobs they are, and until when. */
export const claimTable = tableSchema({
  table: 'claims',
  entity: 'SqlQueueClaim',
  columns: {
    id: primary(bigint('id')),
    workerId: varchar('worker_id', 36),
    queue: varchar('queue', 100),
    /** JSON: the ids of the jobs, in the order in which they start. */
    jobIds: text('job_ids'),
    /** The number of jobs at the head of the list that may have started. */
    startLimit: int('start_limit'),
    /** The worker lock that the claim depends on; 0: none. */
    lockId: withDefault(bigint('lock_id'), 0),
    leaseMs: bigint('lease_ms'),
    leaseUntil: bigint('lease_until'),
    claimedAt: bigint('claimed_at'),
    /** JSON: the ids of the jobs with a cancellation request. */
    cancelRequests: nullable(text('cancel_requests')),
    /** The owner of an assigned job; '' if the claim's id is the only proof. Null for the claims of workers. */
    owner: nullable(varchar('owner', 255)),
    /** The queue that receives a copy of each job of the claim that dies. */
    deadLetter: nullable(varchar('dead_letter', 100)),
    /** The time until which the owner has snoozed the job without releasing it; null: not snoozed. */
    snoozedUntil: nullable(bigint('snoozed_until')),
  },
});
