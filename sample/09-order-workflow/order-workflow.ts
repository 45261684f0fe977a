import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { OrderLog } from './order.entity.js';

export interface OrderJob {
  orderId: number;
  amount: number;
}

export interface ItemJob {
  orderId: number;
  item: string;
}

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'order.pick': { payload: ItemJob; result: { shelf: string } };
    'order.process': { payload: OrderJob; result: string };
    'order.mail': { payload: { orderId: number } };
  }
}

/** Orders from this amount on need the approval of a person. */
export const NEEDS_APPROVAL = 1_000;

/** Processes an order. After a crash, a sleep or a wait it goes on after its last step. */
@Injectable()
export class OrderWorkflow {
  constructor(private readonly dataSource: DataSource) {}

  @QueueProcessor('order.pick')
  async pick(job: JobContext<ItemJob>): Promise<{ shelf: string }> {
    const { orderId, item } = job.payload;
    await setTimeout(50);
    return { shelf: `${item[0]}${orderId}` };
  }

  @QueueProcessor('order.mail')
  async mail(job: JobContext<{ orderId: number }>): Promise<void> {
    const { orderId } = job.payload;
    for await (const order of job.children()) print(orderId, `is ${order.state}: a mail was sent`);
    await job.transaction((manager) => manager.insert(OrderLog, { orderId, entry: 'mailed' }));
  }

  @QueueProcessor('order.process')
  async process(job: JobContext<OrderJob>): Promise<string> {
    const { orderId, amount } = job.payload;
    const shelves: string[] = [];
    for await (const picked of job.children<{ shelf: string }>()) shelves.push(picked.result!.shelf);

    await job.step('reserve', { transaction: true }, async (manager) => {
      await manager.insert(OrderLog, { orderId, entry: 'reserved' });
      print(orderId, `was picked from ${shelves.join(' and ')}, reserved`);
    });

    // Another system: at least once. It would ignore a repetition with the same key.
    const charge = await job.step('charge', async () => {
      await setTimeout(200);
      await this.dataSource.manager.insert(OrderLog, { orderId, entry: `charged ${job.stepKey('charge')}` });
      print(orderId, 'charged');
      return { id: `charge-${orderId}` };
    });

    if (amount >= NEEDS_APPROVAL) {
      const approval = await job.waitFor<{ by: string }>('approval', { key: `order:${orderId}`, timeout: '1d' });
      print(orderId, `approved by ${approval?.by}`);
    }
    await job.sleep('cooling-off', '1s');

    await job.step('ship', { transaction: true }, async (manager) => {
      await manager.insert(OrderLog, { orderId, entry: 'shipped' });
      print(orderId, 'shipped');
    });
    return charge.id;
  }
}

function print(orderId: number, text: string): void {
  console.log(`  process ${process.pid}: order ${orderId} ${text}`);
}
