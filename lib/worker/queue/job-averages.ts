import type { ClaimedJob } from '../../job/job.js';

// The weight of a new run time in the moving average.
const RUN_TIME_WEIGHT = 0.1;

/** How long the jobs of one queue run, and how large they are. Undefined before the first job. */
export class JobAverages {
  #runMs: number | undefined;
  #payloadBytes: number | undefined;

  get runMs(): number | undefined {
    return this.#runMs;
  }

  /** Of the last claim. */
  get payloadBytes(): number | undefined {
    return this.#payloadBytes;
  }

  recordRunTime(ranMs: number): void {
    this.#runMs = this.#runMs === undefined ? ranMs : this.#runMs + RUN_TIME_WEIGHT * (ranMs - this.#runMs);
  }

  recordPayloadSizes(jobs: readonly ClaimedJob[]): void {
    this.#payloadBytes = jobs.reduce((sum, { payload }) => sum + payload.length, 0) / jobs.length;
  }
}
