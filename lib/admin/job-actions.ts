import type { JobRecord } from '../job/job.js';
import type { PagePosition } from '../job/page-options.js';
import type { JobSearch } from '../store/admin/admin-store.js';
import type { AdminEvent, AdminParts } from './admin-parts.js';
import { ADMIN_BATCH_SIZE, checkedIdBatches, isJobIds, type JobIds } from './job-selection.js';

/** Acts on selected jobs in batches and emits an event for each job that has changed. */
export class JobActions {
  constructor(private readonly parts: Pick<AdminParts, 'store' | 'events'>) {}

  /**
   * Calls `act` with one batch of ids after the other, and returns the number of ids that it returned. The next batch
   * is read after the previous one has committed.
   */
  async inBatches(
    event: AdminEvent,
    which: JobIds | JobSearch,
    act: (ids: number[]) => Promise<number[]>,
  ): Promise<number> {
    let changed = 0;
    for await (const ids of isJobIds(which) ? checkedIdBatches(which) : this.#findIdBatches(which)) {
      const before = await this.readForEvent(event, ids);
      const done = await act(ids);
      this.parts.events.emit(
        event,
        before.filter(({ id }) => done.includes(id)),
      );
      changed += done.length;
    }
    return changed;
  }

  /** Reads the jobs before they change. Returns none if the event has no listener. */
  async readForEvent(event: AdminEvent, ids: readonly number[]): Promise<JobRecord[]> {
    if (!this.parts.events.hasListener(event)) return [];
    const jobs: JobRecord[] = [];
    for (const id of ids) {
      const job = await this.parts.store.get(id);
      if (job) jobs.push(job);
    }
    return jobs;
  }

  async *#findIdBatches(search: JobSearch): AsyncGenerator<number[]> {
    for (let after: PagePosition | undefined; ;) {
      const { jobs, next } = await this.parts.store.findIds(search, {
        after,
        limit: ADMIN_BATCH_SIZE,
        order: 'oldest',
      });
      if (jobs.length > 0) yield jobs;
      if (!next) return;
      after = next;
    }
  }
}
