import { EntitySchema } from 'typeorm';
import type { Tables } from '../tables.js';
import { bigint, int, nullable, text, varchar } from './columns.js';

/** Which worker, or which person, has which jobs until when. */
export interface SqlQueueClaimRow {
  id: number;
  workerId: string;
  queue: string;
  /** JSON: the ids of the jobs, in the order in which they begin. */
  jobIds: string;
  /** How many of them may have begun. */
  started: number;
  /** The lock without which the claim is worth nothing; 0: it needs none. */
  lockId: number;
  leaseMs: number;
  leaseUntil: number;
  claimedAt: number;
  /** JSON: the ids of those that somebody wants cancelled. */
  cancelled: string | null;
  /** Whom the job is assigned to; '' where it is whoever has the claim's id as a token. Null for the claims of workers. */
  owner: string | null;
  /** The queue into which a copy of each job goes that dies. */
  deadLetter: string | null;
  /** When the job is due again for its owner, who snoozed it and kept it; null if it was not snoozed. */
  snoozedUntil: number | null;
}

export function claimEntity(tables: Tables, name: string): EntitySchema<SqlQueueClaimRow> {
  return new EntitySchema<SqlQueueClaimRow>({
    name,
    tableName: tables.claims,
    synchronize: false,
    columns: {
      id: { ...bigint('id'), primary: true },
      workerId: varchar('worker_id', 36),
      queue: varchar('queue', 100),
      jobIds: text('job_ids'),
      started: int('started'),
      lockId: { ...bigint('lock_id'), default: 0 },
      leaseMs: bigint('lease_ms'),
      leaseUntil: bigint('lease_until'),
      claimedAt: bigint('claimed_at'),
      cancelled: nullable(text('cancelled')),
      owner: nullable(varchar('owner', 255)),
      deadLetter: nullable(varchar('dead_letter', 100)),
      snoozedUntil: nullable(bigint('snoozed_until')),
    },
  });
}
