import { Controller, Get, NotFoundException, Param, ParseIntPipe, Post } from '@nestjs/common';
import { QueueAdmin, type JobRecord } from 'nestjs-sql-queue';
import { WELCOME } from './queues.js';

/** Operates the queue, from any process on the database. */
@Controller()
export class QueueController {
  constructor(private readonly admin: QueueAdmin) {}

  @Get('queue')
  counts() {
    return this.admin.counts(WELCOME);
  }

  @Get('queue/dead')
  async deadLetters() {
    const jobs = (await this.admin.find({ queue: WELCOME, state: 'dead' })).jobs;
    return jobs.map(toView);
  }

  @Post('queue/dead/retry')
  async retryDeadLetters() {
    return { retried: await this.admin.retry({ queue: WELCOME, state: 'dead' }) };
  }

  @Get('jobs/:id')
  async job(@Param('id', ParseIntPipe) id: number) {
    const job = await this.admin.get(id);
    if (!job) throw new NotFoundException(`no job ${id}: it never existed, or its retention in the history is over`);
    return toView(job);
  }
}

/** The fields of a job to show, with its error but without the stack. */
function toView({ id, state, payload, attempt, maxAttempts, result, error, createdAt, runAt, finishedAt }: JobRecord) {
  const message = error && `${error.name}: ${error.message}`;
  return { id, state, payload, attempt, maxAttempts, result, error: message, createdAt, runAt, finishedAt };
}
