import type { QueueEvents } from './queue-events.js';

/** What happens to a job by somebody's hand, not in a run. */
export type SteeringEvent = 'enqueued' | 'cancelled' | 'retried' | 'removed';

interface SteeredJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly attempt?: number;
  readonly owner?: string | null;
}

/** Tells this process's listeners what it does to jobs besides running them. */
export class SteeringEvents {
  constructor(private readonly events: QueueEvents) {}

  isHeard(event: SteeringEvent): boolean {
    return this.events.isHeard(event);
  }

  tell(event: SteeringEvent, jobs: readonly SteeredJob[]): void {
    if (!this.isHeard(event)) return;
    for (const { id, queue, name, attempt = 0, owner = null } of jobs) {
      this.events.emit({
        event,
        queue,
        jobId: id,
        name,
        attempt,
        owner: event === 'cancelled' ? owner : null,
        ranMs: null,
      });
    }
  }
}
