import { isPoisonCandidate } from '../../job/outcome.js';
import type { Attempt } from '../run/attempt.js';
import type { Run } from '../run/run.js';

/** The handler calls of one queue that run now. */
export class ActiveRuns {
  readonly #runs = new Set<Run>();
  /** The run of a poison candidate. No other run starts beside it. */
  #poisonRun: Run | undefined;

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  get hasPoisonCandidate(): boolean {
    return this.#poisonRun !== undefined;
  }

  get attempts(): Attempt[] {
    return [...this.#runs].flatMap(({ attempts }) => attempts);
  }

  add(run: Run): void {
    this.#runs.add(run);
    if (isPoisonCandidate(run.attempts[0]!.job)) this.#poisonRun = run;
  }

  delete(run: Run): void {
    this.#runs.delete(run);
    if (this.#poisonRun === run) this.#poisonRun = undefined;
  }

  abort(reason: Error): void {
    for (const run of this.#runs) run.abort(reason);
  }

  /** Releases the jobs although their handlers have not ended. */
  release(): void {
    for (const run of this.#runs) run.end({ kind: 'release' });
  }
}
