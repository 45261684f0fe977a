import { createHmac } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { JobContext, QueueProcessor, QueueProducer, UnrecoverableError } from 'nestjs-sql-queue';
import type { EntityManager } from 'typeorm';

export interface Delivery {
  url: string;
  event: string;
  data: unknown;
}

@Injectable()
export class Webhooks {
  private readonly logger = new Logger(Webhooks.name);

  constructor(private readonly producer: QueueProducer) {}

  /** In the transaction of the change that the event reports. */
  async send(delivery: Delivery, manager: EntityManager): Promise<number> {
    const { id } = await this.producer.enqueue('webhook.deliver', delivery, { manager });
    return id;
  }

  @QueueProcessor('webhook.deliver', {
    retry: { attempts: 15, backoff: { type: 'exponential', delay: '10s', max: '6h' } },
    timeout: '15s',
    deadLetter: 'webhook.failed',
  })
  async deliver(job: JobContext<Delivery>): Promise<void> {
    const { url, event, data } = job.payload;
    const body = JSON.stringify({ id: job.id, event, data });
    const signature = createHmac('sha256', process.env['WEBHOOK_SECRET']!).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-signature': signature };
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: job.signal });
    await answer.body?.cancel();
    // Later, without a counted attempt.
    if (answer.status === 429) job.snooze('1m');
    if (answer.status === 410) throw new UnrecoverableError(`${url} is gone`);
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  }

  /** After the last attempt, once: switch the receiver off, and write to its owner. */
  @QueueProcessor('webhook.failed')
  async giveUp(job: JobContext<Delivery>): Promise<string> {
    const { 'dead-letter.id': id, 'dead-letter.error': error } = job.headers;
    this.logger.error(`Webhook ${id} to ${job.payload.url} failed: ${error}`);
    return job.payload.url;
  }
}
