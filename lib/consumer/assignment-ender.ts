import { isClaimableAtOnce } from '../job/outcome.js';
import type { ConsumerStore, EndedAssignment, ExpectedHolder } from '../store/people/consumer-store.js';
import type { ConsumerParts } from './consumer-parts.js';

/** Ends assignments. After the commit it emits their outcomes and notifies workers. */
export class AssignmentEnder {
  constructor(private readonly parts: Pick<ConsumerParts, 'store' | 'optionsFor' | 'ended' | 'notifier'>) {}

  async end(
    id: number,
    holder: ExpectedHolder,
    decide: Parameters<ConsumerStore['end']>[2],
    result?: unknown,
  ): Promise<EndedAssignment> {
    const ended = await this.parts.store.end(id, holder, decide);
    this.onCommitted(ended, result);
    return ended;
  }

  onCommitted({ job, outcome, heldMs, owner }: EndedAssignment, result?: unknown): void {
    const { ended, notifier, optionsFor } = this.parts;
    ended(job, outcome, result, heldMs, owner);
    const { deadLetter } = optionsFor(job.queue);
    if (outcome.kind === 'dead' && deadLetter) notifier.wake(deadLetter);
    if (isClaimableAtOnce(outcome)) notifier.wake(job.queue);
    if (outcome.kind === 'retry' || outcome.kind === 'snooze') notifier.expectDue(job.queue, outcome.delayMs);
  }
}
