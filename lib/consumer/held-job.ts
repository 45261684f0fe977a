import type { Assignment } from '../store/consumer-store.js';

/** A job in somebody's hands. */
// oxlint-disable-next-line typescript/no-explicit-any
export interface HeldJob<Payload = any> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  /** As it is stored; the queue's `schema` has checked it at `enqueue`. */
  readonly payload: Payload;
  readonly headers: Readonly<Record<string, string>>;
  /** Counted when the job was claimed, 1 for the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Whoever has it may complete, fail, release, put off, extend or move the job, from any process. */
  readonly token: string;
  /** Null where it is claimed by token alone. */
  readonly owner: string | null;
  /** When it is taken away, by the database's clock; null: when it is released. */
  readonly leaseUntil: Date | null;
  /** Null: in no stage. */
  readonly stage: string | null;
}

export function heldJob({ job, payload, headers, claimId, owner, leaseUntilMs, stage }: Assignment): HeldJob {
  const { id, queue, name, attempt, maxAttempts } = job;
  return {
    ...{ id, queue, name, payload, headers, attempt, maxAttempts, stage },
    token: String(claimId),
    owner: owner || null,
    leaseUntil: leaseUntilMs === null ? null : new Date(leaseUntilMs),
  };
}
