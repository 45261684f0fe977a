import type { HoldingJob } from '../job/key-decision.js';
import type { NewJob } from '../job/job.js';
import { KeyPlan } from '../store/sql/key-plan.js';
import { idOf, keysOf, type KeyRow } from '../store/sql/key-rows.js';
import type { Clock } from '../time/clock.js';

/** Who holds which key where there is no database, decided as in one. */
export class MemoryKeys {
  readonly #rows = new Map<string, { row: KeyRow; until: number }>();

  constructor(private readonly clock: Clock) {}

  plan(jobs: readonly NewJob[]): KeyPlan {
    const now = this.clock.monotonic();
    const rows = keysOf(jobs).map((key) => {
      const nobodys = { jobId: 0, jobName: null, hasTime: false, keptUntilMs: 0, keptMs: 0, job: undefined };
      const free: KeyRow = { ...nobodys, key, until: 'finished' };
      const { row, until } = this.#rows.get(idOf(key)) ?? { row: free, until: 0 };
      return [idOf(key), { ...row, hasTime: until > now }] as const;
    });
    return new KeyPlan(new Map(rows));
  }

  /** Notes what a plan has come to; its jobs stand there until told otherwise. */
  hold(plan: KeyPlan, job: HoldingJob): void {
    for (const { queue, name, key, jobId } of plan.holds) {
      const row = { jobId, jobName: name, until: key.until, hasTime: false, keptUntilMs: 0, keptMs: 0, job };
      const held = {
        row: { ...row, key: { queue, hash: key.hash } },
        until: this.clock.monotonic() + (key.forMs ?? 0),
      };
      this.#rows.set(idOf(held.row.key), held);
    }
  }

  ended(jobId: number): void {
    for (const [id, { row, until }] of this.#rows)
      if (row.jobId === jobId) this.#rows.set(id, { row: { ...row, job: undefined }, until });
  }

  clear(): void {
    this.#rows.clear();
  }
}
