import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueProducer } from 'nestjs-sql-queue';
import { createJobContext, FakeQueueProducer, QueueHarness } from 'nestjs-sql-queue/testing';
import { DataSource } from 'typeorm';
import { AppModule } from '../app.module.js';
import { Invoice } from '../invoice.entity.js';
import { Invoices } from '../invoices.js';
import { Order } from '../order.entity.js';
import { CreditError, OrdersService } from '../orders.service.js';

const entities = [Order, Invoice];
const database = TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true });

describe('OrdersService', () => {
  it('enqueues an invoice for each order', async () => {
    const producer = new FakeQueueProducer();
    const module = await Test.createTestingModule({
      imports: [database],
      providers: [OrdersService, { provide: QueueProducer, useValue: producer }],
    }).compile();
    const orders = module.get(OrdersService);

    await orders.place({ id: 1, customer: 'ada', total: 1_990 });

    expect(producer.payloads('invoice.write')).toEqual([{ orderId: 1 }]);
    expect(await orders.isPlaced(1)).toBe(true);
    await module.close();
  });
});

describe('Invoices', () => {
  it('writes an invoice with the total of the order', async () => {
    const module = await Test.createTestingModule({ imports: [database] }).compile();
    const { manager } = module.get(DataSource);
    await manager.insert(Order, { id: 7, customer: 'ada', total: 1_990 });

    await new Invoices().write(createJobContext({ orderId: 7 }, { manager }));

    expect(await manager.find(Invoice)).toMatchObject([{ orderId: 7, total: 1_990 }]);
    await module.close();
  });
});

describe('the application', () => {
  it('writes one invoice for an order, and none for a refused order', async () => {
    const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
    await app.init();
    const harness = QueueHarness.of(app);
    const orders = app.get(OrdersService);

    await orders.place({ id: 1, customer: 'ada', total: 1_990 });
    await expect(orders.place({ id: 2, customer: 'bob', total: 99_900 })).rejects.toThrow(CreditError);

    expect(await harness.drain()).toMatchObject([{ queue: 'invoice.write', outcome: 'complete' }]);
    expect(await app.get(DataSource).manager.find(Invoice)).toMatchObject([{ orderId: 1, total: 1_990 }]);
    await app.close();
  });
});
