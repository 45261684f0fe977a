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
import { startError, start, temporaryFolder } from './support/application.js';
import { UNLIMITED } from '../support/limits.js';

@Injectable()
class Crm {
  readonly received: unknown[] = [];

  @QueueProcessor('crm.sync', { topic: 'user.*', where: { region: 'eu' }, concurrency: 2 })
  sync(job: JobContext) {
    this.received.push([job.headers.topic, job.payload]);
  }
}

@QueueProcessor('audit', { topic: ['user.*', 'order.*'] })
class Audit {
  readonly received: unknown[] = [];

  @JobHandler()
  write(@JobPayload() payload: unknown, @JobHeader('topic') topic: string) {
    this.received.push([topic, payload]);
  }
}

describe('a handler with a topic', () => {
  it('receives a copy of each message that is published under it', async () => {
    const { get, idle, log } = await start({ providers: [Crm, Audit] });
    const producer = get(QueueProducer);

    const copies = await producer.publish('user.created', 1, { headers: { region: 'eu' } });
    await producer.publish('user.created', 2, { headers: { region: 'us' } });
    await producer.publish('order.paid', 3);
    await producer.publish('invoice.sent', 4);
    await idle();

    expect(copies.map(({ queue }) => queue)).toEqual(['audit', 'crm.sync']);
    expect(get(Crm).received).toEqual([['user.created', 1]]);
    expect(get(Audit).received).toEqual([
      ['user.created', 1],
      ['user.created', 2],
      ['order.paid', 3],
    ]);
    expect(log.at('log')).toContainEqual(expect.stringMatching(/^crm\.sync → Crm\.sync: .*, copies of user\.\*$/));
  });

  it('receives messages later that were published while its process was down', async () => {
    const connection = { type: 'better-sqlite3', database: `${await temporaryFolder()}/queue.sqlite` } as const;
    const before = await start({ providers: [Crm] }, { connection });
    await before.close();
    const publisher = await start({}, { connection, worker: false });
    for (const id of [1, 2, 3])
      await publisher.get(QueueProducer).publish('user.created', id, { headers: { region: 'eu' } });

    const after = await start({ providers: [Crm] }, { connection });
    await after.idle();

    expect(after.get(Crm).received.map((received) => (received as unknown[])[1])).toEqual([1, 2, 3]);
  });

  it('does not subscribe in a process that only produces', async () => {
    const { get } = await start({ providers: [Crm] }, { worker: false });

    expect(await get(QueueAdmin).subscriptions()).toEqual([]);
  });

  it('does not subscribe in a process that excludes its queue', async () => {
    const { get } = await start({ providers: [Crm, Audit] }, { worker: { queues: { exclude: ['audit'] } } });

    expect(await get(QueueAdmin).subscriptions()).toMatchObject([{ queue: 'crm.sync', where: { region: 'eu' } }]);
  });

  it('subscribes even without autoStart, so that a harness receives the copies', async () => {
    const { app, get } = await start({ providers: [Crm] }, { worker: { autoStart: false } });
    const harness = QueueHarness.of(app);

    await get(QueueProducer).publish('user.created', 1, { headers: { region: 'eu' } });

    expect(await harness.drain()).toMatchObject([{ queue: 'crm.sync', outcome: 'complete' }]);
  });

  it('declares a temporary queue with its expiry', async () => {
    class Live {
      @QueueProcessor('live', { topic: '*', expiresAfter: '1h' })
      show() {}
    }

    const { get } = await start({ providers: [Live] });

    expect(await get(QueueAdmin).queues()).toEqual([
      { queue: 'live', paused: false, expiresAfterMs: 3_600_000, ...UNLIMITED },
    ]);
  });
});

describe('the boot stops', () => {
  it.each([
    [{ topic: '' }, 'expected topic to be 1 to 100 of the characters'],
    [{ topic: [] }, 'expected topic to be a topic or a list of them, got []'],
    [{ topic: ['a', 'user.*.x'] }, 'with a * at its end for all topics with that prefix, got "user.*.x"'],
    [{ where: { region: 'eu' } }, 'expected topic to be 1 to 100 of the characters'],
    [{ topic: 'a', where: 'eu' }, 'expected where to be texts by header, got "eu"'],
    [{ topic: 'a', where: { region: 1 } }, 'expected where.region to be a text or a list of texts, got 1'],
    [{ topic: 'a', where: { region: [] } }, 'expected where.region to be a text or a list of texts, got []'],
    [{ topic: 'a', where: { 'a b': 'x' } }, 'expected header name to be 1 to 100 of the characters'],
    [
      { topic: 'a', expiresAfter: '900ms' },
      `expected expiresAfter to be false or a duration from '1s' to '365d', got "900ms"`,
    ],
  ])('at %j in a decorator', async (options, problem) => {
    class Wrong {
      @QueueProcessor('q', options as SubscriptionOptions)
      handle() {}
    }

    const { message } = await startError({ providers: [Wrong] });

    expect(message).toContain('Queue handlers: Wrong.handle: expected ');
    expect(message).toContain(problem);
  });

  it('at a topic among the options of queues, away from a handler', async () => {
    const error = await startError({}, { queues: { q: { topic: 'a', where: {} } as never } });

    expect(error.message).toContain(
      'queues["q"]: "topic" belongs to the options of @QueueProcessor(), next to the handler',
    );
    expect(error.message).toContain('queues["q"]: "where" belongs to the options of @QueueProcessor()');
  });

  it('at topics of one queue in two places', async () => {
    @QueueProcessor('audit', { topic: 'invoice.*' })
    class More {
      @JobHandler('more')
      more() {}
    }

    expect((await startError({ providers: [Audit, More] })).message).toContain(
      'queue "audit" has options at Audit and at More, expected them in one place',
    );
  });
});

describe('QueueAdmin', () => {
  it('subscribes and unsubscribes a queue', async () => {
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
    ['an invalid queue', (admin) => admin.subscribe('a b', { topic: 'x' }), /Invalid queue/],
    ['a missing topic', (admin) => admin.subscribe('q', {} as never), /Cannot subscribe "q": expected topic/],
    [
      'missing options',
      (admin) => admin.subscribe('q', null as never),
      /Cannot subscribe "q": expected an object, got null/,
    ],
    ['a misspelt option', (admin) => admin.subscribe('q', { topic: 'x', were: {} } as never), /did you mean "where"/],
    [
      'an invalid topic to unsubscribe',
      (admin) => admin.unsubscribe('q', 'a b'),
      /Cannot unsubscribe "q": expected topic/,
    ],
    [
      'a list of topics to unsubscribe',
      (admin) => admin.unsubscribe('q', ['a'] as never),
      /expected one topic, or none/,
    ],
  ])('rejects %s', async (_, act, message) => {
    const { get } = await start({}, { worker: false });

    await expect(act(get(QueueAdmin))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringMatching(message),
    });
    expect(await get(QueueAdmin).subscriptions()).toEqual([]);
  });
});
