import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';

interface Invoice {
  readonly order: number;
}

interface Mail {
  readonly order: number;
  readonly to: string;
}

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'shop.invoice': Invoice;
    'shop.mail': Mail;
  }
}

/** The jobs of a shop: an invoice and a mail for each order. Each fifth mail has no address, and dies. */
@Injectable()
export class Traffic {
  constructor(private readonly producer: QueueProducer) {}

  async run(stopping: AbortSignal): Promise<void> {
    for (let order = 1; !stopping.aborted; order++) {
      await this.producer.enqueue('shop.invoice', { order });
      await this.producer.enqueue('shop.mail', { order, to: order % 5 === 0 ? '' : `customer${order}@example.com` });
      await setTimeout(500, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  @QueueProcessor('shop.invoice', { concurrency: 2 })
  async print(job: JobContext<Invoice>): Promise<void> {
    job.log(`printing the invoice of order ${job.payload.order}`);
    await setTimeout(200, undefined, { signal: job.signal });
  }

  @QueueProcessor('shop.mail', { retry: { attempts: 2, backoff: '1s' } })
  async send(job: JobContext<Mail>): Promise<void> {
    await setTimeout(50, undefined, { signal: job.signal });
    if (!job.payload.to.includes('@')) throw new TypeError('The address has no @.');
  }
}
