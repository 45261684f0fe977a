import { isTurnLong } from '../../../common/turn.js';
import { DuplicateKeyError } from '../../../job/errors.js';
import { decideKey, type JobKey, type KeyOwner } from '../../../job/job-key.js';
import type { NewJob } from '../../../job/job.js';
import { NEXT_TURN, type Work } from '../../core/statement.js';
import type { KeyedJobResult } from './key-store.js';
import { keyIdOf, type KeyRows } from './key-rows.js';

/** A stored job, or a new one whose id is null until it is inserted. */
interface PlannedJob {
  id: number | null;
}

interface PlannedKeyOwner extends KeyOwner {
  readonly plannedJob: PlannedJob;
  /** Null if the job is finished. */
  readonly name: string | null;
}

interface KeyAcquisition {
  readonly job: NewJob;
  readonly key: JobKey;
  readonly plannedJob: PlannedJob;
}

/** The changes of one call, before the plan accepts the whole call. */
class Draft {
  readonly inserts: { job: NewJob; plannedJob: PlannedJob }[] = [];
  readonly owners = new Map<string, PlannedKeyOwner>();
  readonly acquisitions = new Map<string, KeyAcquisition>();
  readonly replaced = new Map<PlannedJob, NewJob>();
}

/**
 * Decides in memory which jobs with keys are inserted, replaced or joined. Plans all jobs of a call or none. Each call
 * sees the decisions for the calls before it.
 */
export class KeyPlan {
  readonly #accepted = new Draft();

  /** @param rows the rows of all keys. Locks keep them and their jobs unchanged until the plan is stored */
  constructor(private readonly rows: KeyRows) {}

  get inserts(): readonly NewJob[] {
    const { inserts, replaced } = this.#accepted;
    return inserts.map(({ job, plannedJob }) => replaced.get(plannedJob) ?? job);
  }

  /** The new content of stored jobs, in the order of their ids. */
  get replacements(): readonly (readonly [id: number, job: NewJob])[] {
    const stored = [...this.#accepted.replaced].filter(([{ id }]) => id !== null);
    return stored.map(([{ id }, job]) => [id!, job] as const).sort(([a], [b]) => a - b);
  }

  get replacedIds(): readonly number[] {
    return this.replacements.map(([id]) => id);
  }

  /** The new owner of each key, in the order of the keys. Valid after `setInsertedIds`. */
  get acquisitions(): readonly { queue: string; name: string; key: JobKey; jobId: number }[] {
    const { acquisitions } = this.#accepted;
    return [...acquisitions.keys()].sort().map((id) => {
      const { job, key, plannedJob } = acquisitions.get(id)!;
      const { queue, name } = job;
      return { queue, name, key, jobId: plannedJob.id! };
    });
  }

  /** @param ids the ids of `inserts`, in their order */
  setInsertedIds(ids: readonly number[]): void {
    this.#accepted.inserts.forEach(({ plannedJob }, index) => (plannedJob.id = ids[index]!));
  }

  /** Sends no statement. Returns a function that returns the result of the call when the ids are known. */
  *addCall(call: readonly NewJob[]): Work<() => readonly KeyedJobResult[] | DuplicateKeyError> {
    const draft = new Draft();
    const results: (() => KeyedJobResult)[] = [];
    for (const job of call) {
      const planned = this.#planJob(job, draft);
      if ('rejection' in planned) return planned.rejection;
      results.push(planned.result);
      if (isTurnLong()) yield NEXT_TURN;
    }
    yield* this.#accept(draft);
    return () => results.map((result) => result());
  }

  #planJob(job: NewJob, draft: Draft): { result: () => KeyedJobResult } | { rejection: () => DuplicateKeyError } {
    const { key, queue, name } = job;
    if (!key) {
      const plannedJob = planInsert(job, draft);
      return { result: () => ({ id: plannedJob.id!, name, outcome: 'created' }) };
    }
    const id = keyIdOf({ queue, hash: key.hash });
    const owner = draft.owners.get(id) ?? this.#accepted.owners.get(id) ?? this.#storedOwner(id);
    const decision = decideKey(owner, key.onConflict);
    if (decision === 'refuse') return { rejection: () => duplicateKeyError(queue, key, owner, draft) };
    if (decision === 'join')
      return { result: () => ({ id: owner.plannedJob.id!, name: owner.name ?? name, outcome: 'existing' }) };
    const plannedJob = decision === 'put' ? planInsert(job, draft) : owner.plannedJob;
    if (decision === 'replace') draft.replaced.set(plannedJob, job);
    const { until } = key;
    const idle = { isUnclaimed: true, attempt: 0 };
    draft.owners.set(id, { until, hasTime: until === 'time', job: idle, plannedJob, name });
    draft.acquisitions.set(id, { job, key, plannedJob });
    return { result: () => ({ id: plannedJob.id!, name, outcome: decision === 'put' ? 'created' : 'replaced' }) };
  }

  #storedOwner(id: string): PlannedKeyOwner {
    const row = this.rows.get(id)!;
    const owner = { ...row, plannedJob: { id: row.jobId }, name: row.jobName };
    // All later calls of this plan share the object.
    this.#accepted.owners.set(id, owner);
    return owner;
  }

  *#accept(draft: Draft): Work<void> {
    for (const insert of draft.inserts) this.#accepted.inserts.push(insert);
    for (const kind of ['owners', 'acquisitions', 'replaced'] as const) {
      const whole = this.#accepted[kind] as Map<unknown, unknown>;
      for (const [key, value] of draft[kind]) {
        whole.set(key, value);
        if (isTurnLong()) yield NEXT_TURN;
      }
    }
  }
}

function duplicateKeyError(queue: string, { text }: JobKey, owner: PlannedKeyOwner, { inserts }: Draft) {
  const { plannedJob, job } = owner;
  // A job of the rejected call itself is not inserted, so it has no id.
  const jobId = inserts.some((insert) => insert.plannedJob === plannedJob) ? null : plannedJob.id;
  const state = job ? (job.isUnclaimed ? 'waiting' : 'active') : 'finished';
  return new DuplicateKeyError(queue, text, jobId, state);
}

function planInsert(job: NewJob, draft: Draft): PlannedJob {
  const plannedJob = { id: null };
  draft.inserts.push({ job, plannedJob });
  return plannedJob;
}
