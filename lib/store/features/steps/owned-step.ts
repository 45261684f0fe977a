import type { Delay } from '../../../job/snooze.js';
import { executeAll, statement, type Statement, type Work } from '../../core/statement.js';
import { CHECK_INTERVAL_MS } from '../../rows/expiry.js';
import type { TableRow } from '../../tables/table-schemas.js';
import type { Signal, StepOwner, StoredStep } from './step-store.js';

// A rescue skips a locked job, so the claim keeps it until its step, or its children, are stored.
const LOCK_JOB = `
  SELECT id, queue, name, options
  FROM {jobs} {by primary}
  WHERE id = :jobId AND claim_id = :claimId {lock}`;

const STEP = `
  SELECT name, state, result, until_at, :now AS at
  FROM {steps} {by primary}
  WHERE job_id = :jobId AND name = :name {lock}`;

const ADD_STEP = `
  INSERT INTO {steps} (job_id, name, state, result, until_at, signal_hash, signal_key, expires_at)
  VALUES (:jobId, :name, :state, :result, COALESCE(:untilMs, :now + :delayMs), :hash, :key, :now + ${CHECK_INTERVAL_MS})`;

export type OwnerRow = Pick<TableRow<'jobs'>, 'id' | 'queue' | 'name' | 'options'>;

/** A step, and the time of the read. */
export type StepRow = Pick<TableRow<'steps'>, 'name' | 'state' | 'result' | 'until_at'> & { readonly at: number };

/** Values of a step that is stored for the first time. */
export interface NewStep extends Partial<Delay> {
  readonly state: StoredStep['state'];
  readonly result?: string | null;
  /** The signal that the step waits for; null: none. */
  readonly signal: Pick<Signal, 'hash' | 'key'> | null;
}

/** Undefined if the claim does not have the job any more. */
export function* lockOwner({ jobId, claimId }: StepOwner): Work<OwnerRow | undefined> {
  const [locked] = yield* executeAll([statement(LOCK_JOB, { jobId, claimId })]);
  return locked!.rows[0] as OwnerRow | undefined;
}

/** Locks the job and its step in one round trip. `owner` is undefined if the claim does not have the job any more. */
export function* lockStep({ jobId, claimId }: StepOwner, name: string) {
  const [job, step] = yield* executeAll([statement(LOCK_JOB, { jobId, claimId }), statement(STEP, { jobId, name })]);
  return { owner: job!.rows[0] as OwnerRow | undefined, stored: step!.rows[0] as StepRow | undefined };
}

export function addStep(jobId: number, name: string, step: NewStep): Statement {
  const { state, result = null, signal, untilMs = null, delayMs = null } = step;
  const { hash = null, key = null } = signal ?? {};
  return statement(ADD_STEP, { jobId, name, state, result, hash, key, untilMs, delayMs });
}

/** Adds the step, and reads it with the end of its wait. */
export function* addWait(jobId: number, name: string, wait: NewStep): Work<StepRow> {
  const [, read] = yield* executeAll([addStep(jobId, name, wait), statement(STEP, { jobId, name })]);
  return read!.rows[0] as unknown as StepRow;
}
