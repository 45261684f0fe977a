import { pageSize } from '../common/page-size.js';
import type { ResolvedBulk } from '../job/bulk-options.js';
import type { JobRecord } from '../job/job.js';
import type { JobState } from '../job/job-state.js';
import type { PagePosition } from '../job/page-options.js';
import type { ChangeEvent } from '../job/queue-event.js';
import type { JobSearch } from '../store/admin/admin-store.js';
import type { AdminParts } from './admin-parts.js';
import { ADMIN_BATCH_SIZE, idBatchesOf, isJobIds, type JobIds } from './job-selection.js';

/** Changes a batch of jobs. Returns the ids of those that it has changed, and receives how many others were before. */
type ActOnJobs = (ids: number[], changedBefore: number) => Promise<number[]>;

/** Acts on selected jobs in batches and emits an event for each job that has changed. */
export class JobBatches {
  constructor(private readonly parts: AdminParts) {}

  /**
   * Calls `act` with one batch of ids after the other, and returns the number of ids that it returned. The next batch
   * is read after the previous one has committed.
   *
   * @param event undefined: `act` emits the events
   * @param states those of the jobs that `act` changes, for a dry run
   */
  async inBatches(
    event: ChangeEvent | undefined,
    selections: readonly (JobIds | JobSearch)[],
    states: readonly JobState[],
    bulk: ResolvedBulk,
    act: ActOnJobs,
  ): Promise<number> {
    if (bulk.dryRun) return this.#count(selections, states, bulk);
    const { limit, onProgress, signal } = bulk;
    let changed = 0;
    for await (const batch of this.#idBatches(selections)) {
      for (let from = 0; from < batch.length && changed < limit;) {
        signal?.throwIfAborted();
        const ids = batch.slice(from, from + limit - changed);
        from += ids.length;
        const before = event ? await this.readForEvent(event, ids) : [];
        const done = await act(ids, changed);
        if (event) this.#emit(event, before, done);
        changed += done.length;
        onProgress?.(changed);
      }
      if (changed >= limit) break;
    }
    return changed;
  }

  /** Reads the jobs before they change. Returns none if the event has no listener. */
  async readForEvent(event: ChangeEvent, ids: readonly number[]): Promise<JobRecord[]> {
    if (!this.parts.events.hasListener(event)) return [];
    const jobs: JobRecord[] = [];
    for (const id of ids) {
      const job = await this.parts.store.get(id, this.parts.transaction);
      if (job) jobs.push(job);
    }
    return jobs;
  }

  #emit(event: ChangeEvent, before: readonly JobRecord[], done: readonly number[]): void {
    const changedIds = new Set(done);
    this.parts.events.emitChanges(
      event,
      before.filter(({ id }) => changedIds.has(id)),
    );
  }

  async #count(
    selections: readonly (JobIds | JobSearch)[],
    states: readonly JobState[],
    { limit, signal }: ResolvedBulk,
  ): Promise<number> {
    let count = 0;
    for (const selection of selections) {
      // One search per state, because a search does not return the states of the jobs.
      const searches = isJobIds(selection) ? [selection] : statesOf(selection, states);
      for await (const ids of this.#idBatches(searches)) {
        signal?.throwIfAborted();
        count += isJobIds(selection) ? await this.#countInStates(ids, states) : ids.length;
        if (count >= limit) return limit;
      }
    }
    return count;
  }

  async #countInStates(ids: readonly number[], states: readonly JobState[]): Promise<number> {
    let count = 0;
    for (const id of new Set(ids)) {
      const job = await this.parts.store.get(id, this.parts.transaction);
      if (job && states.includes(job.state)) count++;
    }
    return count;
  }

  async *#idBatches(selections: readonly (JobIds | JobSearch)[]): AsyncGenerator<number[]> {
    for (const selection of selections) {
      if (isJobIds(selection)) yield* idBatchesOf(selection);
      else yield* this.#findIdBatches(selection);
    }
  }

  async *#findIdBatches(search: JobSearch): AsyncGenerator<number[]> {
    for (let after: PagePosition | undefined; ;) {
      const page = { after, limit: pageSize(ADMIN_BATCH_SIZE), order: 'oldest' } as const;
      const { jobs, next } = await this.parts.store.findIds(search, page, this.parts.transaction);
      if (jobs.length > 0) yield jobs;
      if (!next) return;
      after = next;
    }
  }
}

function statesOf(search: JobSearch, states: readonly JobState[]): JobSearch[] {
  return states.filter((state) => (search.state ?? state) === state).map((state) => ({ ...search, state }));
}
