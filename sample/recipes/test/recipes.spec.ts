import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueSchedules, SqlQueueModule, UnrecoverableError } from 'nestjs-sql-queue';
import { createJobContext, FakeQueueProducer, QueueHarness } from 'nestjs-sql-queue/testing';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { DataSource } from 'typeorm';
import { Expense, Expenses } from '../approval.js';
import { Customer, CustomerImports } from '../csv-import.js';
import { DailyDigest, Reader } from '../daily-digest.js';
import { ImagePipeline, Picture, Resizer } from '../image-pipeline.js';
import { Webhooks } from '../webhooks.js';

let app: INestApplication<App>;
let harness: QueueHarness;

/** The application of a recipe on SQLite in memory, whose jobs the test runs one by one. */
async function start(metadata: ModuleMetadata, entities: Type[]): Promise<void> {
  const module = await Test.createTestingModule({
    ...metadata,
    imports: [
      TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true }),
      SqlQueueModule.forRoot({ worker: { autoStart: false } }),
    ],
  }).compile();
  app = module.createNestApplication({ logger: false });
  await app.init();
  harness = QueueHarness.of(app);
}

describe('Expenses', () => {
  beforeEach(() => start({ controllers: [Expenses] }, [Expense]));
  afterEach(() => app.close());

  it('pays after the approval', async () => {
    const { body } = await request(app.getHttpServer()).post('/expenses').send({ amount: 80 }).expect(201);
    await harness.drain();
    const decision = { state: 'approved' };
    await request(app.getHttpServer())
      .post(`/expenses/${(body as { id: number }).id}/decision`)
      .send(decision)
      .expect(201);

    expect(await harness.drain()).toMatchObject([{ queue: 'expense.decide', outcome: 'complete', result: 'paid' }]);
  });
});

describe('CustomerImports', () => {
  beforeEach(() => start({ controllers: [CustomerImports] }, [Customer]));
  afterEach(() => app.close());

  it('inserts the rows of the file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sql-queue-csv-'));
    const file = join(folder, 'customers.csv');
    await writeFile(file, 'email,name\nada@example.com,Ada\nbob@example.com,Bob\n');

    await request(app.getHttpServer()).post('/imports').query({ file }).expect(201);

    expect(await harness.drain()).toMatchObject([{ outcome: 'complete', result: 2 }]);
    expect(await app.get(DataSource).manager.count(Customer)).toBe(2);
    await rm(folder, { recursive: true });
  });
});

describe('DailyDigest', () => {
  beforeEach(() => start({ providers: [DailyDigest] }, [Reader]));
  afterEach(() => app.close());

  it('has one schedule for all readers of a time zone', async () => {
    // A zone without summer time: there is a tick in each period of 24 hours.
    await app.get(DailyDigest).join('ada@example.com', 'Asia/Tokyo');
    await app.get(DailyDigest).join('bob@example.com', 'Asia/Tokyo');

    const ran = await harness.advance('1d');

    expect(await app.get(QueueSchedules).list()).toHaveLength(1);
    expect(ran.slice(0, 3).map(({ queue }) => queue)).toEqual(['digest.zone', 'digest.mail', 'digest.mail']);
  });
});

describe('ImagePipeline', () => {
  const resizer: Resizer = { resize: (file, width) => Promise.resolve(`${file}-${width}`) };
  beforeEach(() => start({ providers: [ImagePipeline, { provide: Resizer, useValue: resizer }] }, [Picture]));
  afterEach(() => app.close());

  it('stores the variants of all sizes', async () => {
    const id = await app.get(ImagePipeline).upload('cat');

    await harness.drain();

    const picture = await app.get(DataSource).manager.findOneByOrFail(Picture, { id });
    expect(picture.variants).toEqual(['cat-320', 'cat-640', 'cat-1280']);
  });
});

describe('Webhooks', () => {
  it('signs a delivery, and gives up at once if the receiver is gone', async () => {
    process.env.WEBHOOK_SECRET = 'secret';
    const signatures: unknown[] = [];
    const receiver = createServer((received, response) => {
      signatures.push(received.headers['x-signature']);
      response.writeHead(410).end();
    });
    await once(receiver.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const webhooks = new Webhooks(new FakeQueueProducer());

    const delivery = webhooks.deliver(createJobContext({ url, event: 'order.paid', data: { order: 7 } }));

    await expect(delivery).rejects.toThrow(UnrecoverableError);
    expect(signatures).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    receiver.closeAllConnections();
    receiver.close();
  });
});
