import { Injectable } from '@nestjs/common';
import { QueueProducer } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { Order } from './order.entity.js';
import { INVOICE } from './queues.js';

/** In cents. An order above it is refused. */
const CREDIT = 50_000;

/** The order exceeds the customer's credit. */
export class CreditError extends Error {}

@Injectable()
export class OrdersService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly producer: QueueProducer,
  ) {}

  /**
   * Writes the order and its job in one transaction: there is never one without the other. The check comes last, to
   * show that a refused order also removes its job.
   */
  async place(order: Order): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.insert(Order, order);
      await this.producer.enqueue(INVOICE, { orderId: order.id }, { manager });
      if (order.total > CREDIT) throw new CreditError(`${order.customer} cannot owe ${order.total / 100}`);
    });
  }

  isPlaced(id: number): Promise<boolean> {
    return this.dataSource.manager.existsBy(Order, { id });
  }
}
