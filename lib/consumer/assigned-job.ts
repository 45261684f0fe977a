import type { Assignment } from '../store/features/people/consumer-store.js';

/** A job that is assigned to a claim holder. */
// oxlint-disable-next-line typescript/no-explicit-any
export interface AssignedJob<Payload = any> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  /** The stored payload. The `schema` of the queue checked it at `enqueue`, and does not check it again. */
  readonly payload: Payload;
  readonly headers: Readonly<Record<string, string>>;
  /** The number of this attempt, 1 for the first. The claim has counted it. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The bearer of the token may complete, fail, release, snooze, extend or move the job, from any process. */
  readonly token: string;
  /** Null if the job was claimed without an owner. */
  readonly owner: string | null;
  /** The end of the lease by the database's clock. Null if the job is assigned until it is released. */
  readonly leaseUntil: Date | null;
  /** Null if the job is in no stage. */
  readonly stage: string | null;
}

export function toAssignedJob({ job, payload, headers, claimId, owner, leaseUntilMs, stage }: Assignment): AssignedJob {
  const { id, queue, name, attempt, maxAttempts } = job;
  return {
    id,
    queue,
    name,
    payload,
    headers,
    attempt,
    maxAttempts,
    stage,
    token: String(claimId),
    owner: owner || null,
    leaseUntil: leaseUntilMs === null ? null : new Date(leaseUntilMs),
  };
}
