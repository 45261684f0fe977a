import { pageSize } from '../common/lists.js';
import type { ResolvedBulk } from '../job/bulk-options.js';
import type { JobRecord } from '../job/job.js';
import type { JobState } from '../job/job-state.js';
import type { PagePosition } from '../job/page-options.js';
import type { ChangeEvent } from '../job/queue-event.js';
import type { JobSearch } from '../store/admin/admin-store.js';
import type { JobCount } from '../store/features/stats/stats-store.js';
import type { AdminParts } from './admin-parts.js';
import { ADMIN_BATCH_SIZE, idBatchesOf, idsOf, isJobIds, searchesIn, type JobIds } from './job-selection.js';

/** A preview counts up to this number of jobs. */
const MAX_COUNTED = 10_000;
// As many pages as that number of jobs fills. A page of a filter without an index examines up to 1,000 jobs.
const MAX_PAGES = MAX_COUNTED / ADMIN_BATCH_SIZE + 1;

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
    selections: Iterable<JobIds | JobSearch>,
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
    selections: Iterable<JobIds | JobSearch>,
    states: readonly JobState[],
    { limit, signal }: ResolvedBulk,
  ): Promise<number> {
    let count = 0;
    for (const selection of selections) {
      if (isJobIds(selection)) {
        const byState = await this.countStates(selection, signal);
        for (const state of states) count += byState.get(state) ?? 0;
        continue;
      }
      // One search per state, because a search does not return the states of the jobs.
      for await (const ids of this.#idBatches(searchesIn(selection, states))) {
        signal?.throwIfAborted();
        count += ids.length;
        if (count >= limit) return limit;
      }
    }
    return Math.min(count, limit);
  }

  /** The number of the jobs with these ids in each state; `unknown`: ids of no job. */
  async countStates(which: JobIds, signal?: AbortSignal): Promise<Map<JobState | 'unknown', number>> {
    const counts = new Map<JobState | 'unknown', number>();
    const unknown = new Set(idsOf(which));
    for (const ids of idBatchesOf(which)) {
      signal?.throwIfAborted();
      for (const { id, state } of await this.parts.store.states(ids, this.parts.transaction)) {
        counts.set(state, (counts.get(state) ?? 0) + 1);
        unknown.delete(id);
      }
    }
    if (unknown.size > 0) counts.set('unknown', unknown.size);
    return counts;
  }

  /** Counts the jobs of all searches up to 10,000, and reads a bounded number of rows of each search. */
  async countUpTo(searches: readonly JobSearch[]): Promise<JobCount> {
    let value = 0;
    let atLeast = false;
    for (const search of searches) {
      let pages = 0;
      for await (const ids of this.#findIdPages(search)) {
        value += ids.length;
        pages++;
        if (value > MAX_COUNTED) return { value: MAX_COUNTED, atLeast: true };
        if (pages > MAX_PAGES) {
          // The jobs of the next search may match nevertheless.
          atLeast = true;
          break;
        }
      }
    }
    return { value, atLeast };
  }

  async *#idBatches(selections: Iterable<JobIds | JobSearch>): AsyncGenerator<number[]> {
    for (const selection of selections) {
      if (isJobIds(selection)) yield* idBatchesOf(selection);
      else yield* this.#findIdBatches(selection);
    }
  }

  async *#findIdBatches(search: JobSearch): AsyncGenerator<number[]> {
    for await (const ids of this.#findIdPages(search)) if (ids.length > 0) yield ids;
  }

  /** A page may be empty although there is a next one. */
  async *#findIdPages(search: JobSearch): AsyncGenerator<number[]> {
    for (let after: PagePosition | undefined; ;) {
      const page = { after, limit: pageSize(ADMIN_BATCH_SIZE), order: 'oldest' } as const;
      const { jobs, next } = await this.parts.store.findIds(search, page, this.parts.transaction);
      yield jobs;
      if (!next) return;
      after = next;
    }
  }
}
