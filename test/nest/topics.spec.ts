import { Injectable } from '@nestjs/common';
import {
  JobContext,
  JobHandler,
  JobHeader,
  JobPayload,
  QueueAdmin,
  QueueProcessor,
  QueueProducer,
  type SubscriptionOptions,
} from 'nestjs-sql-queue';
import { QueueHarness } from 'nestjs-sql-queue/testing';
import { refusal, start, temporaryFolder } from './support/application.js';

@Injectable()
class Crm {
  readonly seen: unknown[] = [];

  @QueueProcessor('crm.sync', { topic: 'user.*', where: { region: 'eu' }, concurrency: 2 })
  sync(job: JobContext) {
    this.seen.push([job.headers.topic, job.payload]);
  }
}

@QueueProcessor('audit', { topic: ['user.*', 'order.*'] })
class Audit {
  readonly seen: unknown[] = [];

  @JobHandler()
  write(@JobPayload() payload: unknown, @JobHeader('topic') topic: string) {
    this.seen.push([topic, payload]);
  }
}

describe('a handler with a topic', () => {
  it('gets a copy of each message that is published under it', async () => {
    const { get, idle, log } = await start({ providers: [Crm, Audit] });
    const producer = get(QueueProducer);

    const copies = await producer.publish('user.created', 1, { headers: { region: 'eu' } });
    await producer.publish('user.created', 2, { headers: { region: 'us' } });
    await producer.publish('order.paid', 3);
    await producer.publish('invoice.sent', 4);
    await idle();

    expect(copies.map(({ queue }) => queue)).toEqual(['audit', 'crm.sync']);
    expect(get(Crm).seen).toEqual([['user.created', 1]]);
    expect(get(Audit).seen).toEqual([
      ['user.created', 1],
      ['user.created', 2],
      ['order.paid', 3],
    ]);
    expect(log.at('log')).toContainEqual(expect.stringMatching(/^crm\.sync → Crm\.sync: .*, copies of user\.\*$/));
  });

  it('gets later what was published while its process was down', async () => {
    const connection = { type: 'better-sqlite3', database: `${await temporaryFolder()}/queue.sqlite` } as const;
    const before = await start({ providers: [Crm] }, { connection });
    await before.close();
    const publisher = await start({}, { connection, worker: false });
    for (const id of [1, 2, 3])
      await publisher.get(QueueProducer).publish('user.created', id, { headers: { region: 'eu' } });

    const after = await start({ providers: [Crm] }, { connection });
    await after.idle();

    expect(after.get(Crm).seen.map((seen) => (seen as unknown[])[1])).toEqual([1, 2, 3]);
  });

  it('subscribes in no process that only produces', async () => {
    const { get } = await start({ providers: [Crm] }, { worker: false });

    expect(await get(QueueAdmin).subscriptions()).toEqual([]);
  });

  it('subscribes no queue that its process leaves to others', async () => {
    const { get } = await start({ providers: [Crm, Audit] }, { worker: { queues: { exclude: ['audit'] } } });

    expect(await get(QueueAdmin).subscriptions()).toMatchObject([{ queue: 'crm.sync', where: { region: 'eu' } }]);
  });

  it('subscribes where work is started by hand, so that a harness sees the copies', async () => {
    const { app, get } = await start({ providers: [Crm] }, { worker: { autoStart: false } });
    const harness = QueueHarness.of(app);

    await get(QueueProducer).publish('user.created', 1, { headers: { region: 'eu' } });

    expect(await harness.drain()).toMatchObject([{ queue: 'crm.sync', outcome: 'complete' }]);
  });

  it('of a temporary queue is known as such', async () => {
    class Live {
      @QueueProcessor('live', { topic: '*', expiresAfter: '1h' })
      show() {}
    }

    const { get } = await start({ providers: [Live] });

    expect(await get(QueueAdmin).queues()).toEqual([{ queue: 'live', paused: false, expiresAfterMs: 3_600_000 }]);
  });
});

describe('the boot is stopped by', () => {
  it.each([
    [{ topic: '' }, 'expected topic to be 1 to 100 of the characters'],
    [{ topic: [] }, 'expected topic to be a topic or a list of them, got []'],
    [{ topic: ['a', 'user.*.x'] }, 'with a * at its end for all that begin so, got "user.*.x"'],
    [{ where: { region: 'eu' } }, 'expected topic to be 1 to 100 of the characters'],
    [{ topic: 'a', where: 'eu' }, 'expected where to be texts by header, got "eu"'],
    [{ topic: 'a', where: { region: 1 } }, 'expected where.region to be a text or a list of texts, got 1'],
    [{ topic: 'a', where: { region: [] } }, 'expected where.region to be a text or a list of texts, got []'],
    [{ topic: 'a', where: { 'a b': 'x' } }, 'expected header name to be 1 to 100 of the characters'],
    [
      { topic: 'a', expiresAfter: '900ms' },
      `expected expiresAfter to be false or a duration from '1s' to '365d', got "900ms"`,
    ],
  ])('%j in a decorator', async (options, problem) => {
    class Wrong {
      @QueueProcessor('q', options as SubscriptionOptions)
      handle() {}
    }

    const { message } = await refusal({ providers: [Wrong] });

    expect(message).toContain('Queue handlers: Wrong.handle: expected ');
    expect(message).toContain(problem);
  });

  it('a topic among the options of queues, where no handler is', async () => {
    const error = await refusal({}, { queues: { q: { topic: 'a', where: {} } as never } });

    expect(error.message).toContain(
      'queues["q"]: topic belongs into the options of @QueueProcessor(), next to the handler',
    );
    expect(error.message).toContain('queues["q"]: where belongs into the options of @QueueProcessor()');
  });

  it('topics of one queue in two places', async () => {
    @QueueProcessor('audit', { topic: 'invoice.*' })
    class More {
      @JobHandler('more')
      more() {}
    }

    expect((await refusal({ providers: [Audit, More] })).message).toContain(
      'queue "audit" has options at Audit and at More, expected them in one place',
    );
  });
});

describe('QueueAdmin', () => {
  it('subscribes a queue by hand, and ends that', async () => {
    const { get } = await start({}, { worker: false });
    const admin = get(QueueAdmin);

    await admin.subscribe('audit', { topic: ['user.*', 'order.paid'], where: { region: ['eu', 'uk'] } });
    const copies = await get(QueueProducer).publish('user.created', 0, { headers: { region: 'uk' } });
    const known = await admin.subscriptions();
    const ended = [await admin.unsubscribe('audit', 'user.*'), await admin.unsubscribe('audit')];

    expect(copies).toMatchObject([{ queue: 'audit' }]);
    expect(known).toMatchObject([
      { queue: 'audit', topic: 'order.paid', where: { region: ['eu', 'uk'] } },
      { queue: 'audit', topic: 'user.*', where: { region: ['eu', 'uk'] } },
    ]);
    expect([ended, await admin.subscriptions()]).toEqual([[1, 1], []]);
  });

  it.each<[string, (admin: QueueAdmin) => Promise<unknown>, RegExp]>([
    ['a queue', (admin) => admin.subscribe('a b', { topic: 'x' }), /Invalid queue/],
    ['no topic', (admin) => admin.subscribe('q', {} as never), /Cannot subscribe "q": expected topic/],
    [
      'no options',
      (admin) => admin.subscribe('q', null as never),
      /Cannot subscribe "q": expected an object, got null/,
    ],
    ['a misspelt word', (admin) => admin.subscribe('q', { topic: 'x', were: {} } as never), /did you mean "where"/],
    ['what ends', (admin) => admin.unsubscribe('q', 'a b'), /Cannot unsubscribe "q": expected topic/],
    ['a list that ends', (admin) => admin.unsubscribe('q', ['a'] as never), /expected one topic, or none/],
  ])('refuses %s that is none', async (_, act, message) => {
    const { get } = await start({}, { worker: false });

    await expect(act(get(QueueAdmin))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringMatching(message),
    });
    expect(await get(QueueAdmin).subscriptions()).toEqual([]);
  });
});
