import { Injectable } from '@nestjs/common';
import {
  QueueAdmin,
  QueueConsumer,
  QueueProducer,
  SqlQueueRunner,
  type JobRecord,
  type PayloadOf,
  type ResultOf,
} from 'nestjs-sql-queue';
import { CHECK, REVIEW } from './queues.js';

type Verdict = ResultOf<typeof CHECK>['verdict'];

/** What people do with tasks. Each is a job of the queue, in one pair of hands at a time. */
@Injectable()
export class TasksService {
  constructor(
    private readonly producer: QueueProducer,
    private readonly consumer: QueueConsumer,
    private readonly admin: QueueAdmin,
    private readonly runner: SqlQueueRunner,
  ) {}

  async all() {
    const [waiting, review, active, scheduled, completed] = await Promise.all([
      this.consumer.unassigned(CHECK),
      this.consumer.inStage(CHECK, REVIEW),
      this.admin.find({ queue: CHECK, state: 'active' }),
      this.admin.find({ queue: CHECK, state: 'scheduled' }),
      this.admin.find({ queue: CHECK, state: 'completed' }, { order: 'newest', limit: 10 }),
    ]);
    return {
      waiting: waiting.jobs.map(seen),
      review: review.jobs.filter(({ state }) => state === 'waiting').map(seen),
      taken: active.jobs.map(seen),
      putOff: scheduled.jobs.map(seen),
      finished: completed.jobs.reverse().map(seen),
      codeWorks: this.runner.state === 'running',
    };
  }

  add(title: string) {
    return this.producer.enqueue(CHECK, { title });
  }

  /** The task is the owner's until he ends it: no lease takes it away over a weekend, and nobody who clicks later. */
  take(id: number, owner: string) {
    return this.consumer.assign(id, owner, { reassign: false });
  }

  /** The one that has waited longest; undefined where none waits. */
  async takeNext(owner: string) {
    const [task] = await this.consumer.claim(CHECK, { owner, lease: 'until-released' });
    return task;
  }

  finish(id: number, owner: string, verdict: Verdict) {
    return this.consumer.complete(id, { owner, result: { verdict, by: owner } });
  }

  putOff(id: number, owner: string) {
    return this.consumer.snooze(id, { owner, until: msUntilTomorrow(new Date()) });
  }

  giveBack(id: number, owner: string) {
    return this.consumer.release(id, { owner });
  }

  sendToReview(id: number, owner: string) {
    return this.consumer.move(id, { owner, stage: REVIEW });
  }

  /** A reviewer takes it and ends it in one go. */
  async accept(id: number, owner: string, verdict: Verdict) {
    await this.take(id, owner);
    await this.finish(id, owner, verdict);
  }

  async sendBack(id: number, owner: string) {
    await this.take(id, owner);
    await this.consumer.move(id, { owner, stage: null });
  }

  letCodeWork(works: boolean) {
    return works ? this.runner.start() : this.runner.stop();
  }
}

/** What of a job is for people's eyes. */
function seen({ id, payload, owner, worker, result, runAt }: JobRecord) {
  const { title } = payload as PayloadOf<typeof CHECK>;
  return { id, title, owner: owner ?? (worker ? 'code' : null), result, runAt };
}

/** Until eight o'clock. */
export function msUntilTomorrow(now: Date): number {
  const tomorrow = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 8);
  return tomorrow.getTime() - now.getTime();
}
