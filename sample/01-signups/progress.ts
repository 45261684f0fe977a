import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { OnQueueEvent, QueueAdmin, StoreUnavailableError, type QueueEvent } from 'nestjs-sql-queue';
import { jobsLeft } from '../shared/jobs-left.js';
import { WELCOME } from './queues.js';

/** Counts the jobs of this process and prints the counts. */
@Injectable()
export class Progress implements OnApplicationBootstrap {
  completed = 0;
  retried = 0;
  dead = 0;
  #startedAt = 0;

  constructor(private readonly admin: QueueAdmin) {}

  onApplicationBootstrap(): void {
    this.#startedAt = performance.now();
  }

  @OnQueueEvent('completed', { queue: WELCOME })
  onCompleted(): void {
    this.completed++;
  }

  @OnQueueEvent('failed', { queue: WELCOME })
  onFailed({ delayMs }: QueueEvent): void {
    // Without a delay there is no further attempt, and the job is dead.
    if (delayMs !== undefined) this.retried++;
  }

  @OnQueueEvent('dead', { queue: WELCOME })
  onDead(): void {
    this.dead++;
  }

  /** The number of mails that any process still has to send; undefined while the database does not answer. */
  async left(): Promise<number | undefined> {
    try {
      return await jobsLeft(this.admin, WELCOME);
    } catch (error) {
      if (error instanceof StoreUnavailableError) return undefined;
      throw error;
    }
  }

  async print(): Promise<void> {
    const left = await this.left();
    const { completed, retried, dead } = this;
    console.log(
      `  ${seconds(this.#elapsedMs)}  ${completed} completed, ${retried} retried, ${dead} dead, ${left ?? '?'} to go`,
    );
  }

  summary(): string {
    const { completed, retried, dead } = this;
    const perSecond = (completed + dead) / (this.#elapsedMs / 1_000);
    return [
      `Done in ${seconds(this.#elapsedMs)}.`,
      `  completed  ${completed}`,
      `  retried    ${retried}`,
      `  dead       ${dead}`,
      `  speed      ${perSecond.toFixed(1)} jobs/s`,
    ].join('\n');
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
