import { DuplicateKeyError } from '../../job/errors.js';
import type { JobKey } from '../../job/job-key.js';
import { decideKey, type KeyHolder } from '../../job/key-decision.js';
import type { NewJob } from '../../job/job.js';
import type { PlacedJob } from '../key-store.js';
import { idOf, type KeyRows } from './key-rows.js';

/** A job that is there, or one to be put in, whose id is known once it has been. */
interface Place {
  id: number | null;
}

interface Holder extends KeyHolder {
  readonly place: Place;
  /** Null where the job is finished. */
  readonly name: string | null;
}

interface Hold {
  readonly job: NewJob;
  readonly key: JobKey;
  readonly place: Place;
}

/** What a call is to be answered, once the ids are known. */
export type Answered = () => readonly PlacedJob[] | DuplicateKeyError;

/** What one call changes, until it is known that all of it can be done. */
class Draft {
  readonly puts: { job: NewJob; place: Place }[] = [];
  readonly holders = new Map<string, Holder>();
  readonly holds = new Map<string, Hold>();
  readonly replaced = new Map<Place, NewJob>();
}

/**
 * Decides, in memory, what becomes of jobs with keys: what is put in, replaced and held. Call by call, each all or nothing,
 * and each sees what those before it have decided.
 */
export class KeyPlan {
  readonly #whole = new Draft();

  /** @param rows of all keys of the jobs; their jobs stay as these say until the plan has been carried out */
  constructor(private readonly rows: KeyRows) {}

  /** The jobs to put in, in this order. */
  get puts(): readonly NewJob[] {
    const { puts, replaced } = this.#whole;
    return puts.map(({ job, place }) => replaced.get(place) ?? job);
  }

  /** What takes the place of jobs that are there, by their ids, in order. */
  get replacements(): readonly (readonly [id: number, job: NewJob])[] {
    const stored = [...this.#whole.replaced].filter(([{ id }]) => id !== null);
    return stored.map(([{ id }, job]) => [id!, job] as const).sort(([a], [b]) => a - b);
  }

  /** The ids of those jobs. */
  get replaced(): readonly number[] {
    return this.replacements.map(([id]) => id);
  }

  /** Who holds which key from now on, in the order of the keys. Asked once the ids are known. */
  get holds(): readonly { queue: string; name: string; key: JobKey; jobId: number }[] {
    const inOrder = [...this.#whole.holds].sort(([a], [b]) => (a < b ? -1 : 1));
    return inOrder.map(([, { job, key, place }]) => ({ queue: job.queue, name: job.name, key, jobId: place.id! }));
  }

  /** Says which ids the jobs that were put in have. */
  number(ids: readonly number[]): void {
    this.#whole.puts.forEach(({ place }, index) => (place.id = ids[index]!));
  }

  add(call: readonly NewJob[]): Answered {
    const draft = new Draft();
    const placed: (() => PlacedJob)[] = [];
    for (const job of call) {
      const answer = this.#place(job, draft);
      if (answer instanceof Refusal) return () => answer.error(draft);
      placed.push(answer);
    }
    this.#keep(draft);
    return () => placed.map((answer) => answer());
  }

  #place(job: NewJob, draft: Draft): (() => PlacedJob) | Refusal {
    const { key, queue, name } = job;
    if (!key) {
      const place = put(job, draft);
      return () => ({ id: place.id!, name, outcome: 'created' });
    }
    const id = idOf({ queue, hash: key.hash });
    const holder = draft.holders.get(id) ?? this.#whole.holders.get(id) ?? this.#stored(id);
    const decision = decideKey(holder, key.onConflict);
    if (decision === 'refuse') return new Refusal(job, key, holder);
    if (decision === 'join') {
      return () => ({ id: holder.place.id!, name: holder.name ?? name, outcome: 'existing' });
    }
    const place = decision === 'put' ? put(job, draft) : holder.place;
    if (decision === 'replace') draft.replaced.set(place, job);
    const { until } = key;
    draft.holders.set(id, { until, hasTime: until === 'time', job: { isIdle: true, attempt: 0 }, place, name });
    draft.holds.set(id, { job, key, place });
    return () => ({ id: place.id!, name, outcome: decision === 'put' ? 'created' : 'replaced' });
  }

  #stored(id: string): Holder {
    const row = this.rows.get(id)!;
    const holder = { ...row, place: { id: row.jobId }, name: row.jobName };
    // The same object for everybody from now on.
    this.#whole.holders.set(id, holder);
    return holder;
  }

  #keep(draft: Draft): void {
    this.#whole.puts.push(...draft.puts);
    for (const kind of ['holders', 'holds', 'replaced'] as const) {
      const whole = this.#whole[kind] as Map<unknown, unknown>;
      for (const [key, value] of draft[kind]) whole.set(key, value);
    }
  }
}

/** Why a call cannot be done. */
class Refusal {
  constructor(
    private readonly job: NewJob,
    private readonly key: JobKey,
    private readonly holder: Holder,
  ) {}

  error({ puts }: Draft): DuplicateKeyError {
    const { place, job } = this.holder;
    // What the call itself was to put in is not put in either.
    const jobId = puts.some((one) => one.place === place) ? null : place.id;
    const standing = job ? (job.isIdle ? 'waiting' : 'active') : 'finished';
    return new DuplicateKeyError(this.job.queue, this.key.text, jobId, standing);
  }
}

function put(job: NewJob, draft: Draft): Place {
  const place = { id: null };
  draft.puts.push({ job, place });
  return place;
}
