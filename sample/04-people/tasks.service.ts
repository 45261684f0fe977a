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

/** The actions of people on tasks. A task is a job of the queue and has one owner at a time. */
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
      waiting: waiting.jobs.map(toView),
      review: review.jobs.filter(({ state }) => state === 'waiting').map(toView),
      taken: active.jobs.map(toView),
      putOff: scheduled.jobs.map(toView),
      finished: completed.jobs.reverse().map(toView),
      codeWorks: this.runner.state === 'running',
    };
  }

  add(title: string) {
    return this.producer.enqueue(CHECK, { title });
  }

  /** Assigns the task until its owner ends it: no lease expires over a weekend, and no other person can take it. */
  take(id: number, owner: string) {
    return this.consumer.assign(id, owner, { reassign: false });
  }

  /** Assigns the task that waits longest. Resolves to undefined if none waits. */
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

  /** Assigns the task to a reviewer and completes it. */
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

/** The fields of a job that the page shows. */
function toView({ id, payload, owner, worker, result, runAt }: JobRecord) {
  const { title } = payload as PayloadOf<typeof CHECK>;
  return { id, title, owner: owner ?? (worker ? 'code' : null), result, runAt };
}

/** The milliseconds until eight o'clock tomorrow. */
export function msUntilTomorrow(now: Date): number {
  const tomorrow = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 8);
  return tomorrow.getTime() - now.getTime();
}
