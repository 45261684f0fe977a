import type { QueueEvents } from './queue-events.js';

export type ClientEvent = 'enqueued' | 'promoted' | 'released' | 'cancelled' | 'retried' | 'removed';

interface ClientEventJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly attempt?: number;
  readonly owner?: string | null;
}

/** Emits events for the actions of producers and admins to the listeners of this process. */
export class ClientEvents {
  constructor(private readonly events: QueueEvents) {}

  hasListener(event: ClientEvent): boolean {
    return this.events.hasListener(event);
  }

  emit(event: ClientEvent, jobs: readonly ClientEventJob[]): void {
    if (!this.hasListener(event)) return;
    for (const { id: jobId, queue, name, attempt = 0, owner: jobOwner = null } of jobs) {
      const owner = event === 'cancelled' || event === 'released' ? jobOwner : null;
      this.events.emit({ event, queue, jobId, name, attempt, owner, ranMs: null });
    }
  }
}
