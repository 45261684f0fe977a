import type { KeyOwnerJob } from '../job/key-decision.js';
import type { NewJob } from '../job/job.js';
import { KeyPlan } from '../store/keys/key-plan.js';
import { keyIdOf, keysOf, type KeyRow } from '../store/keys/key-rows.js';
import type { Clock } from '../common/clock.js';

/** The owners of keys, in memory. The rules are those of the database. */
export class MemoryKeys {
  readonly #rows = new Map<string, { row: KeyRow; until: number }>();

  constructor(private readonly clock: Clock) {}

  plan(jobs: readonly NewJob[]): KeyPlan {
    const now = this.clock.monotonic();
    const rows = keysOf(jobs).map((key) => {
      const unowned = {
        jobId: 0,
        jobName: null,
        hasTime: false,
        keptUntilMs: 0,
        remainingRetentionMs: 0,
        job: undefined,
      };
      const free: KeyRow = { ...unowned, key, until: 'finished' };
      const { row, until } = this.#rows.get(keyIdOf(key)) ?? { row: free, until: 0 };
      return [keyIdOf(key), { ...row, hasTime: until > now }] as const;
    });
    return new KeyPlan(new Map(rows));
  }

  /** The owners keep the state of `job` until `removeJob`. */
  setOwners(plan: KeyPlan, job: KeyOwnerJob): void {
    for (const { queue, name, key, jobId } of plan.acquisitions) {
      const row = {
        jobId,
        jobName: name,
        until: key.until,
        hasTime: false,
        keptUntilMs: 0,
        remainingRetentionMs: 0,
        job,
      };
      const owned = {
        row: { ...row, key: { queue, hash: key.hash } },
        until: this.clock.monotonic() + (key.durationMs ?? 0),
      };
      this.#rows.set(keyIdOf(owned.row.key), owned);
    }
  }

  removeJob(jobId: number): void {
    for (const [id, { row, until }] of this.#rows)
      if (row.jobId === jobId) this.#rows.set(id, { row: { ...row, job: undefined }, until });
  }

  clear(): void {
    this.#rows.clear();
  }
}
