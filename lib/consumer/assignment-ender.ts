import type { ConsumerStore, EndedAssignment, ExpectedHolder } from '../store/people/consumer-store.js';
import type { CallerTransaction } from '../store/jobs/job-store.js';
import type { ConsumerParts } from './consumer-parts.js';

/** Ends assignments. The effects of their outcomes follow the commit. */
export class AssignmentEnder {
  constructor(private readonly parts: Pick<ConsumerParts, 'store' | 'jobs' | 'ended'>) {}

  async end(
    id: number,
    holder: ExpectedHolder,
    decide: Parameters<ConsumerStore['end']>[2],
    manager: CallerTransaction | undefined,
    result?: unknown,
  ): Promise<EndedAssignment> {
    const ended = await this.parts.store.end(id, holder, decide, manager);
    this.afterCommit(ended, manager, () => this.#emitOutcome(ended, result));
    return ended;
  }

  async move(
    id: number,
    holder: ExpectedHolder,
    stage: string | null,
    manager: CallerTransaction | undefined,
  ): Promise<void> {
    const ended = await this.parts.store.move(id, holder, stage, manager);
    this.afterCommit(ended, manager, () => this.#emitOutcome(ended));
  }

  /** Calls `act` after the commit of the caller's transaction, or at once if the library has committed. */
  afterCommit({ job }: EndedAssignment, manager: CallerTransaction | undefined, act: () => void): void {
    if (manager === undefined) return act();
    const { jobs, store } = this.parts;
    jobs.afterCommit(manager, () => void store.onCommitted(job).then(act));
  }

  #emitOutcome({ job, outcome, heldMs, owner }: EndedAssignment, result?: unknown): void {
    this.parts.ended(job, outcome, result, heldMs, owner);
  }
}
