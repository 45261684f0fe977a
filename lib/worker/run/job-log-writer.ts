import { Batcher } from '../../common/batcher.js';
import type { Clock } from '../../common/clock.js';
import { OutageLog, type JobLogger } from '../../common/logger.js';
import type { WaitNotifier } from '../../listen/wait-notifier.js';
import type { JobLogEntry, JobLogStore } from '../../store/features/logs/job-log-store.js';

// The least time between two writes. Of the progress of a job only the last value in this time is written.
const WRITE_INTERVAL_MS = 500;
const MAX_LINE_LENGTH = 4_000;
// Of one run, while the database is unavailable.
const MAX_PENDING_LINES = 1_000;

export interface LoggedRun {
  readonly job: { readonly id: number };
  readonly claim: { readonly id: number };
  /** The timeout of the job. */
  readonly timeoutMs?: number | false;
}

interface PendingLog {
  progress: string | undefined;
  readonly lines: { readonly text: string; readonly loggedAt: number }[];
}

/** Writes progress and log lines of runs: the first at once, more twice a second, the rest before a run ends. */
export class JobLogWriter {
  readonly #pending = new Map<LoggedRun, PendingLog>();
  readonly #batcher: Batcher<LoggedRun>;
  /** For each run whose last entry a codec is encoding. Later reports of the run are pending until that is written. */
  readonly #preparing = new Map<LoggedRun, Promise<void>>();
  readonly #prepared: Batcher<JobLogEntry>;
  readonly #outage: OutageLog;

  constructor(
    private readonly store: JobLogStore,
    private readonly waitNotifier: WaitNotifier,
    private readonly clock: Clock,
    logger: JobLogger,
  ) {
    this.#batcher = new Batcher((runs) => this.#write(runs), { clock, intervalMs: WRITE_INTERVAL_MS });
    this.#prepared = new Batcher((entries) => this.#store(entries));
    this.#outage = new OutageLog(logger, 'Cannot write progress and logs of jobs, omitting them');
  }

  progress(run: LoggedRun, value: string): void {
    this.#pendingOf(run).progress = value;
  }

  log(run: LoggedRun, line: string): void {
    const { lines } = this.#pendingOf(run);
    if (lines.length < MAX_PENDING_LINES)
      lines.push({ text: line.slice(0, MAX_LINE_LENGTH), loggedAt: this.clock.monotonic() });
  }

  /** Resolves when the reports of the run are written, or could not be. */
  async finish(run: LoggedRun): Promise<void> {
    do {
      await (this.#pending.has(run) ? this.#batcher.flushNow() : this.#batcher.currentFlush);
      await this.#preparing.get(run);
    } while (this.#pending.has(run));
  }

  /** Deletes the reports of a job that has ended and is not kept. The pruner deletes them if this fails. */
  async delete(jobId: number): Promise<void> {
    await this.store.deleteJobLogs([jobId]).catch(() => undefined);
  }

  #pendingOf(run: LoggedRun): PendingLog {
    let pending = this.#pending.get(run);
    if (!pending) {
      this.#pending.set(run, (pending = { progress: undefined, lines: [] }));
      void this.#batcher.add(run);
    }
    return pending;
  }

  /** Does not wait for entries that a service is slow to encode: other runs could not end meanwhile. */
  async #write(runs: readonly LoggedRun[]): Promise<void> {
    const now = this.clock.monotonic();
    const ready: JobLogEntry[] = [];
    for (const run of runs) {
      if (this.#preparing.has(run)) continue;
      const entry = this.#takeEntry(run, now);
      const preparing = this.store.prepareJobLog?.(entry);
      if (preparing) this.#preparing.set(run, this.#writeOncePrepared(run, entry, preparing));
      else ready.push(entry);
    }
    if (ready.length > 0) await this.#store(ready);
  }

  #takeEntry(run: LoggedRun, now: number): JobLogEntry {
    const { progress, lines } = this.#pending.get(run)!;
    this.#pending.delete(run);
    return {
      jobId: run.job.id,
      claimId: run.claim.id,
      value: progress,
      timeoutMs: run.timeoutMs,
      lines: lines.map(({ text, loggedAt }) => ({ text, agoMs: now - loggedAt })),
    };
  }

  async #writeOncePrepared(run: LoggedRun, entry: JobLogEntry, preparing: Promise<unknown>): Promise<void> {
    await preparing;
    await this.#prepared.add(entry);
    this.#preparing.delete(run);
    if (this.#pending.has(run)) void this.#batcher.add(run);
  }

  /** Never rejects: no job fails because its reports cannot be written. */
  async #store(entries: readonly JobLogEntry[]): Promise<void> {
    try {
      await this.store.writeJobLogs(entries);
      this.#outage.onSuccess();
      for (const { jobId } of entries) this.waitNotifier.notifyChanged(jobId);
    } catch (error) {
      this.#outage.onFailure(error);
    }
  }
}
