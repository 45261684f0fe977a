import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { OrderLog } from './order.entity.js';

export interface OrderJob {
  orderId: number;
  amount: number;
}

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'order.process': { payload: OrderJob; result: string };
  }
}

/** Orders from this amount on need the approval of a person. */
export const NEEDS_APPROVAL = 1_000;

/** Processes an order. After a crash, a sleep or a wait it goes on after its last step. */
@Injectable()
export class OrderWorkflow {
  constructor(private readonly dataSource: DataSource) {}

  @QueueProcessor('order.process')
  async process(job: JobContext<OrderJob>): Promise<string> {
    const { orderId, amount } = job.payload;
    const print = (text: string) => console.log(`  process ${process.pid}: order ${orderId} ${text}`);

    await job.step('reserve', { transaction: true }, async (manager) => {
      await manager.insert(OrderLog, { orderId, entry: 'reserved' });
      print('reserved');
    });

    // Another system: at least once. It would ignore a repetition with the same key.
    const charge = await job.step('charge', async () => {
      await setTimeout(200);
      await this.dataSource.manager.insert(OrderLog, { orderId, entry: `charged ${job.stepKey('charge')}` });
      print('charged');
      return { id: `charge-${orderId}` };
    });

    if (amount >= NEEDS_APPROVAL) {
      const approval = await job.waitFor<{ by: string }>('approval', { key: `order:${orderId}`, timeout: '1d' });
      print(`approved by ${approval?.by}`);
    }
    await job.sleep('cooling-off', '1s');

    await job.step('ship', { transaction: true }, async (manager) => {
      await manager.insert(OrderLog, { orderId, entry: 'shipped' });
      print('shipped');
    });
    return charge.id;
  }
}
