import { Injectable } from '@nestjs/common';
import { QueueProducer } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { Order } from './order.entity.js';

@Injectable()
export class OrdersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly producer: QueueProducer,
  ) {}

  /** Stores the order and its job in one transaction. */
  async place(id: number, amount: number): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.insert(Order, { id, amount, approvedBy: null });
      await this.producer.enqueue('order.process', { orderId: id, amount }, { manager });
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
