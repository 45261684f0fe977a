import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { FakeQueueProducer, QueueHarness } from 'nestjs-sql-queue/testing';
import { DataSource } from 'typeorm';
import { databaseOptions } from '../../shared/database.js';
import { NEEDS_APPROVAL, OrderWorkflow } from '../order-workflow.js';
import { Order, OrderLog } from '../order.entity.js';
import { OrdersService } from '../orders.service.js';

const entities = [Order, OrderLog];

describe('OrdersService', () => {
  it('enqueues the jobs that pick, process and mail', async () => {
    const producer = new FakeQueueProducer();
    const module = await Test.createTestingModule({
      imports: [TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true })],
      providers: [OrdersService, { provide: QueueProducer, useValue: producer }],
    }).compile();

    await module.get(OrdersService).place(1, 50);

    expect(producer.enqueued.map(({ queue }) => queue)).toEqual([
      'order.pick',
      'order.pick',
      'order.process',
      'order.mail',
    ]);
    await module.close();
  });
});

describe('the shop and a worker', () => {
  it('ships an expensive order after its approval, and charges it once', async () => {
    const app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...databaseOptions('./test.sqlite'), entities, synchronize: true }),
        SqlQueueModule.forRoot({ worker: { autoStart: false } }),
      ],
      providers: [OrdersService, OrderWorkflow],
    }).compile();
    await app.init();
    const [harness, orders] = [QueueHarness.of(app), app.get(OrdersService)];
    const entries = async () => (await app.get(DataSource).manager.find(OrderLog)).map(({ entry }) => entry);

    await orders.place(1, NEEDS_APPROVAL);
    await harness.drain();
    await harness.advance('1h');
    await harness.drain();
    expect(await entries()).toEqual(['reserved', expect.stringMatching(/^charged /)]);

    await orders.approve(1, 'ada');
    await harness.drain();
    await harness.advance('1s');
    await harness.drain();
    expect(await entries()).toEqual(['reserved', expect.stringMatching(/^charged /), 'shipped', 'mailed']);
    await app.close();
  });
});
