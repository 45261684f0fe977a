import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { SNSClient, type PublishBatchCommandInput, type PublishBatchCommandOutput } from '@aws-sdk/client-sns';
import { startFauxqs } from 'fauxqs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  QueueAdmin,
  QueueProducer,
  QueueSchedules,
  SqlQueueModule,
  SqlQueueRunner,
  type SqlQueueModuleOptions,
} from 'nestjs-sql-queue';
import { QueueHarness } from 'nestjs-sql-queue/testing';
import { DataSource } from 'typeorm';
import { Expense, Expenses } from '../../sample/recipes/approval.js';
import { Customer, CustomerImports } from '../../sample/recipes/csv-import.js';
import { DailyDigest, Reader } from '../../sample/recipes/daily-digest.js';
import { ImagePipeline, Picture, Resizer } from '../../sample/recipes/image-pipeline.js';
import { EVENT_QUEUES, EventOutbox } from '../../sample/recipes/outbox-to-sns.js';
import { Webhooks } from '../../sample/recipes/webhooks.js';

const root = resolve(import.meta.dirname, '../..');
let cleanups: (() => unknown)[] = [];

beforeAll(() => void vi.stubEnv('WEBHOOK_SECRET', 'secret'));
afterAll(() => void vi.unstubAllEnvs());

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

describe('each recipe', () => {
  it.each(readdirSync(join(root, 'sample/recipes')).filter((name) => name.endsWith('.ts')))(
    'has the text of its tested file on its page: %s',
    (file) => {
      const page = readFileSync(join(root, 'docs/recipes', file.replace(/\.ts$/, '.md')), 'utf8');

      expect(/^```ts\n(import [\s\S]*?)^```$/m.exec(page)?.[1]).toBe(
        readFileSync(join(root, 'sample/recipes', file), 'utf8'),
      );
    },
  );
});

describe('the recipe for webhooks', () => {
  it('delivers a signed event after failures, and nothing of a transaction that is rolled back', async () => {
    const receiver = await receiverWith([500, 429, 204]);
    const { app, harness, dataSource } = await setup({ providers: [Webhooks] });
    const webhooks = app.get(Webhooks);
    const delivery = { url: receiver.url, event: 'order.paid', data: { order: 7 } };

    await dataSource
      .transaction(async (manager) => {
        await webhooks.send(delivery, manager);
        throw new Error('refused');
      })
      .catch(() => undefined);
    const id = await dataSource.transaction((manager) => webhooks.send(delivery, manager));
    const outcomes = await drainFor(harness, 3);

    expect(outcomes).toEqual(['webhook.deliver retry', 'webhook.deliver snooze', 'webhook.deliver complete']);
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.requests[2]).toMatchObject({
      headers: { 'x-signature': expect.stringMatching(/^[0-9a-f]{64}$/) },
      body: JSON.stringify({ id, event: 'order.paid', data: { order: 7 } }),
    });
  });

  it('gives up on a receiver that fails for about a day, or at once if it is gone', async () => {
    const failing = await receiverWith([500]);
    const gone = await receiverWith([410]);
    const { app, harness, dataSource, admin } = await setup({ providers: [Webhooks] });
    const send = (url: string) =>
      dataSource.transaction((manager) => app.get(Webhooks).send({ url, event: 'x', data: null }, manager));
    await send(failing.url);
    await send(gone.url);

    let hours = 0;
    while (hours < 48 && (await admin.counts('webhook.deliver')).dead < 2) {
      await harness.drain();
      await harness.advance('5m');
      hours += 5 / 60;
    }

    expect(hours).toBeGreaterThan(20);
    expect(hours).toBeLessThan(28);
    expect([failing.requests.length, gone.requests.length]).toEqual([15, 1]);
    expect(await admin.counts('webhook.deliver')).toMatchObject({ dead: 2, scheduled: 0 });
    const { jobs } = await admin.find({ queue: 'webhook.failed', state: 'completed' });
    expect(new Set(jobs.map(({ result }) => result))).toEqual(new Set([failing.url, gone.url]));
  });
});

describe('the recipe for an outbox to SNS', () => {
  const outbox = async () => {
    const { sns, received } = await topicOfEvents();
    const providers = [EventOutbox, { provide: SNSClient, useValue: sns }];
    const world = await setup({ providers }, [], EVENT_QUEUES);
    const add = (type: string, aggregate: string, data: unknown = null) =>
      world.dataSource.transaction((manager) => world.app.get(EventOutbox).add({ type, aggregate, data }, manager));
    return { ...world, sns, received, add };
  };

  it('publishes the events of committed transactions, each once, and in the order of their aggregate', async () => {
    const { app, sns, received, add, dataSource } = await outbox();
    disturb(sns);
    await dataSource
      .transaction(async (manager) => {
        await app.get(EventOutbox).add({ type: 'refused', aggregate: 'a', data: null }, manager);
        throw new Error('refused');
      })
      .catch(() => undefined);
    for (const type of ['a1', 'a2', 'a3']) await add(type, 'a');
    await add('b1', 'b');

    await app.get(SqlQueueRunner).start();
    const messages = await received(4);

    expect(messages.filter(({ aggregate }) => aggregate === 'a').map(({ type }) => type)).toEqual(['a1', 'a2', 'a3']);
    expect(messages.filter(({ aggregate }) => aggregate === 'b').map(({ type }) => type)).toEqual(['b1']);
  });

  it('gives up on an event that SNS refuses, and publishes the others', async () => {
    const { harness, received, add } = await outbox();
    await add('long', 'a', 'x'.repeat(300_000));
    await add('short', 'b');

    const ran = await harness.drain();

    expect(ran.map(({ outcome }) => outcome)).toEqual(['dead', 'complete']);
    expect(ran[0]!.error!.message).toMatch(/too long/);
    expect(await received(1)).toMatchObject([{ type: 'short' }]);
  });
});

describe('the recipe for a daily digest', () => {
  it('writes one mail to each reader at seven in the time zone of the reader', async () => {
    const { app, harness, admin } = await setup({ providers: [DailyDigest] }, [Reader]);
    const digest = app.get(DailyDigest);
    // Zones without summer time: there is one tick in each period of 24 hours.
    await digest.join('ada@example.com', 'Africa/Nairobi');
    await digest.join('bob@example.com', 'Africa/Nairobi');
    await digest.join('cho@example.com', 'Asia/Tokyo');
    const schedules = await app.get(QueueSchedules).list();

    const ran = await harness.advance('1d');
    const again = await harness.drain();

    expect(schedules.map(({ name }) => name).sort()).toEqual(['digest.Africa.Nairobi', 'digest.Asia.Tokyo']);
    expect([...ran, ...again].filter(({ queue }) => queue === 'digest.zone')).toHaveLength(2);
    const { jobs } = await admin.find({ queue: 'digest.mail', state: 'completed' });
    expect(jobs.map(({ payload }) => (payload as { to: string }).to).sort()).toEqual([
      'ada@example.com',
      'bob@example.com',
      'cho@example.com',
    ]);
    const hours = jobs.map(({ payload }) => {
      const { to, day } = payload as { to: string; day: string };
      const timeZone = to.startsWith('cho') ? 'Asia/Tokyo' : 'Africa/Nairobi';
      return new Date(day).toLocaleTimeString('en-GB', { timeZone, timeStyle: 'short' });
    });
    expect(hours).toEqual(['07:00', '07:00', '07:00']);
  });
});

describe('the recipe for an image pipeline', () => {
  it('publishes the variants of all sizes, and repeats only the size that failed', async () => {
    const calls: number[] = [];
    const resizer: Resizer = {
      resize: (file, width) => {
        calls.push(width);
        if (width === 640 && calls.filter((each) => each === 640).length === 1)
          return Promise.reject(new Error('no memory'));
        return Promise.resolve(`${file}-${width}`);
      },
    };
    const { app, harness, dataSource } = await setup(
      { providers: [ImagePipeline, { provide: Resizer, useValue: resizer }] },
      [Picture],
    );

    const id = await app.get(ImagePipeline).upload('cat');
    await drainFor(harness, 6);

    expect(calls.sort((a, b) => a - b)).toEqual([320, 640, 640, 1280]);
    const picture = await dataSource.manager.findOneByOrFail(Picture, { id });
    expect(picture.variants).toEqual(['cat-320', 'cat-640', 'cat-1280']);
  });
});

describe('the recipe for a CSV import', () => {
  it('shows the progress in the browser, and inserts each row once although an attempt fails', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sql-queue-csv-'));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'customers.csv');
    const csv = (emptyRow?: number) =>
      ['email,name', ...Array.from({ length: 1200 }, (_, i) => (i === emptyRow ? ',x' : `c${i}@example.com,x`))].join(
        '\n',
      );
    await writeFile(file, csv(700));
    const { url, harness, dataSource } = await setup({ controllers: [CustomerImports] }, [Customer]);

    const started = await fetch(`${url}/imports?file=${encodeURIComponent(file)}`, { method: 'POST' });
    const { id } = (await started.json()) as { id: number };
    const events = readEvents(`${url}/imports/${id}`);
    const failed = await harness.runNext();
    const afterFailure = await dataSource.manager.count(Customer);
    await writeFile(file, csv());
    await drainFor(harness, 1);

    expect([failed?.outcome, afterFailure]).toEqual(['retry', 500]);
    expect(await dataSource.manager.count(Customer)).toBe(1200);
    expect(await events).toMatch(/event: end[\s\S]*data: \{"rows":1200\}/);
  });
});

describe('the recipe for an approval', () => {
  const submit = async () => {
    const world = await setup({ controllers: [Expenses] }, [Expense]);
    const post = async (path: string, body: object): Promise<Response> => {
      const headers = { 'content-type': 'application/json' };
      return fetch(`${world.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    };
    const { id } = (await (await post('/expenses', { amount: 80 })).json()) as { id: number };
    const notify = vi.spyOn(world.app.get(Expenses), 'notify');
    const results = async () =>
      (await world.admin.find({ queue: 'expense.decide', state: 'completed' })).jobs.map(({ result }) => result);
    return { ...world, id, post, notify, results };
  };

  it('asks, reminds after three days, and pays once when a person approves', async () => {
    const { id, harness, post, notify, results } = await submit();

    await harness.drain();
    await harness.advance('3d');
    await harness.drain();
    await post(`/expenses/${id}/decision`, { state: 'approved' });
    await harness.drain();

    expect(notify.mock.calls.map(([text]) => text)).toEqual([
      'please decide about 80',
      'still open: 80',
      expect.stringMatching(/^pay 80, reference /),
    ]);
    expect(await results()).toEqual(['paid']);
  });

  it('pays nothing if it is rejected, or if no person decides within a week', async () => {
    const rejected = await submit();
    const expired = await submit();

    await rejected.harness.drain();
    await rejected.post(`/expenses/${rejected.id}/decision`, { state: 'rejected' });
    await rejected.harness.drain();
    await expired.harness.drain();
    await expired.harness.advance('7d');
    await expired.harness.drain();

    expect([await rejected.results(), await expired.results()]).toEqual([['rejected'], ['expired']]);
  });
});

/** The application of a recipe on SQLite in memory. Its test runs the jobs one by one. */
async function setup(metadata: ModuleMetadata, entities: Type[] = [], queues: SqlQueueModuleOptions['queues'] = {}) {
  const module = await Test.createTestingModule({
    ...metadata,
    imports: [
      TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true }),
      SqlQueueModule.forRoot({ worker: { autoStart: false }, queues }),
    ],
  }).compile();
  const app: INestApplication = module.createNestApplication({ logger: false });
  cleanups.push(() => app.close());
  await app.listen(0, '127.0.0.1');
  return {
    app,
    url: await app.getUrl(),
    harness: QueueHarness.of(app),
    dataSource: app.get(DataSource),
    admin: app.get(QueueAdmin),
    producer: app.get(QueueProducer),
  };
}

/** Runs that many jobs, and moves the clock whenever none is due. */
async function drainFor(harness: QueueHarness, count: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let idle = 0; outcomes.length < count && idle < 50; idle++) {
    for (let ran = await harness.runNext(); ran; ran = await harness.runNext())
      outcomes.push(`${ran.queue} ${ran.outcome}`);
    if (outcomes.length < count) await harness.advance('1h');
  }
  return outcomes;
}

interface Receiver {
  url: string;
  requests: { headers: Record<string, unknown>; body: string }[];
}

/** Answers with these codes, and then with the last one. */
async function receiverWith(codes: number[]): Promise<Receiver> {
  const requests: Receiver['requests'] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      response.writeHead(codes[Math.min(requests.length, codes.length - 1)]!).end();
      requests.push({ headers: request.headers, body });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => new Promise((resolved) => server.close(resolved).closeAllConnections()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, requests };
}

/** The whole text of a stream of events. */
async function readEvents(url: string): Promise<string> {
  const answer = await fetch(url, { headers: { accept: 'text/event-stream' } });
  return answer.text();
}

/** A FIFO topic, and its messages as a subscriber receives them. */
async function topicOfEvents() {
  const server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
  cleanups.push(() => server.stop());
  const attributes = { FifoQueue: 'true' };
  const { topicArn } = server.createTopic('events.fifo', { attributes: { FifoTopic: 'true' } });
  const { queueUrl } = server.createQueue('subscriber.fifo', { attributes });
  server.subscribe({ topic: 'events.fifo', queue: 'subscriber.fifo' });
  vi.stubEnv('EVENTS_TOPIC_ARN', topicArn);
  const client = {
    endpoint: server.address,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const sns = new SNSClient(client);
  const sqs = new SQSClient(client);
  cleanups.push(() => (sns.destroy(), sqs.destroy()));
  return {
    sns,
    /** Waits for that many messages. */
    received: async (count: number) => {
      const messages: { id: number; type: string; aggregate: string }[] = [];
      while (messages.length < count) {
        const request = { QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 };
        const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(request));
        for (const { Body, ReceiptHandle } of Messages) {
          messages.push(JSON.parse((JSON.parse(Body!) as { Message: string }).Message));
          await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
        }
      }
      return messages;
    },
  };
}

/** The first event of the first request meets an error of SNS. The answer to the second request is lost. */
function disturb(sns: SNSClient): void {
  let requests = 0;
  sns.middlewareStack.add(
    (next) => async (args) => {
      const isFirst = ++requests === 1;
      const input = args.input as PublishBatchCommandInput;
      const [first, ...others] = input.PublishBatchRequestEntries!;
      const answer = await next(isFirst ? { ...args, input: { ...input, PublishBatchRequestEntries: others } } : args);
      if (requests === 2) throw new Error('connection lost');
      const output = answer.output as PublishBatchCommandOutput;
      if (isFirst) output.Failed = [{ Id: first!.Id, Code: 'InternalError', SenderFault: false }];
      return answer;
    },
    { step: 'initialize' },
  );
}
