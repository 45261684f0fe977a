import { Injectable } from '@nestjs/common';
import { QueueProducer } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { Order } from './order.entity.js';

const ITEMS = ['lamp', 'desk'];

@Injectable()
export class OrdersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly producer: QueueProducer,
  ) {}

  /** Stores the order and the flow of its jobs in one transaction: pick the items, process the order, then send a mail. */
  async place(id: number, amount: number): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.insert(Order, { id, amount, approvedBy: null });
      await this.producer.flow(
        (flow) => {
          const items = ITEMS.map((item) => ({ orderId: id, item }));
          const picked = flow.addMany('order.pick', items);
          const processed = flow.add('order.process', { orderId: id, amount }, { after: picked });
          // Also if the order has failed.
          flow.add('order.mail', { orderId: id }, { after: processed, onFailure: 'run' });
        },
        { manager },
      );
    });
  }

  /** Stores the approval and its signal in one transaction: the job never sees an approval that is rolled back. */
  async approve(id: number, by: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.update(Order, id, { approvedBy: by });
      await this.producer.signal('approval', `order:${id}`, { by }, { manager });
    });
  }
}
