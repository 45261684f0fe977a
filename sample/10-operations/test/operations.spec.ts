import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { QueueProducer, SqlQueueRunner } from 'nestjs-sql-queue';
import { createJobContext, FakeQueueProducer } from 'nestjs-sql-queue/testing';
import request from 'supertest';
import type { App } from 'supertest/types.js';
import { ShopModule } from '../shop.module.js';
import { userOf } from '../team-user.js';
import { Traffic } from '../traffic.js';

describe('userOf', () => {
  it('reads a name and a password with a colon', () => {
    const authorization = `Basic ${Buffer.from('ann:se:cret').toString('base64')}`;

    expect(userOf({ headers: { authorization } })).toEqual({ name: 'ann', password: 'se:cret' });
    expect(userOf({ headers: {} })).toEqual({ name: 'unknown', password: '' });
  });
});

describe('Traffic', () => {
  it('fails on a mail without an address', async () => {
    const mail = createJobContext({ order: 5, to: '' });

    await expect(new Traffic(new FakeQueueProducer()).send(mail)).rejects.toThrow('The address has no @.');
  });
});

describe('the application', () => {
  let app: INestApplication<App>;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [ShopModule] }).compile();
    app = module.createNestApplication();
    await app.init();
  });

  afterAll(() => app.close());

  it('shows the board to the team only', async () => {
    await request(app.getHttpServer()).get('/queues').expect(401);
    await request(app.getHttpServer()).get('/queues').auth('ann', 'team').expect(200);
  });

  it('is ready, and counts the jobs that it has run', async () => {
    const producer = app.get(QueueProducer);
    const { id } = await producer.enqueue('shop.mail', { order: 1, to: 'ada@example.com' });
    await producer.waitFor(id);
    await app.get(SqlQueueRunner).whenIdle();

    await request(app.getHttpServer()).get('/health/ready').expect(200);
    const { text } = await request(app.getHttpServer()).get('/metrics').expect(200);
    expect(text).toMatch(/^sql_queue_job_runs_total\{.*queue="shop.mail".*\} 1$/m);
  });
});
