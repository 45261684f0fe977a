import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, type PayloadOf } from 'nestjs-sql-queue';
import { Invoice } from './invoice.entity.js';
import { Order } from './order.entity.js';
import { INVOICE } from './queues.js';

@Injectable()
export class Invoices {
  /**
   * A job runs at least once, but its effect happens exactly once: the invoice and the job's completion commit
   * together. A process that is killed before has done neither, and the job runs again.
   */
  @QueueProcessor(INVOICE)
  async write(job: JobContext<PayloadOf<typeof INVOICE>>): Promise<void> {
    const { orderId } = job.payload;
    const invoice = await job.transaction(async (manager) => {
      const { total } = await manager.findOneByOrFail(Order, { id: orderId });
      const { number } = await manager.save(Invoice, { orderId, total } as Invoice);
      // The time to draw the invoice, and the best moment for kill -9.
      await setTimeout(100);
      return number;
    });
    console.log(`  invoice ${invoice} for order ${orderId}${job.attempt > 1 ? `, at attempt ${job.attempt}` : ''}`);
  }
}
