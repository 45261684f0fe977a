import { InvalidOptionsError, PayloadInvalidError, QueueProducer } from 'nestjs-sql-queue';
import { createJobContext, FakeQueueProducer, InlineQueueProducer } from 'nestjs-sql-queue/testing';

describe('FakeQueueProducer', () => {
  it('stands in for a QueueProducer and records what it was given', async () => {
    const producer = new FakeQueueProducer();

    const job = await producer.enqueue('email.send', { to: 'ada' }, { delay: '5m', headers: { trace: '1' } });
    await producer.enqueueMany('email.send', [{ payload: { to: 'grace' } }]);

    expect(producer).toBeInstanceOf(QueueProducer);
    expect(job).toEqual({ id: 1, queue: 'email.send', name: 'default' });
    expect(producer.enqueued[0]).toMatchObject({
      id: 1,
      payload: { to: 'ada' },
      delayMs: 300_000,
      headers: { trace: '1' },
    });
    expect(producer.payloads('email.send')).toEqual([{ to: 'ada' }, { to: 'grace' }]);
  });

  it('refuses what the real one refuses', async () => {
    const producer = new FakeQueueProducer();

    await expect(producer.enqueue('email.send', { n: 1n })).rejects.toThrow(PayloadInvalidError);
    await expect(producer.enqueue('email.send', {}, { delay: 'soon' as never })).rejects.toThrow(InvalidOptionsError);
    expect(producer.enqueued).toEqual([]);
  });
});

describe('InlineQueueProducer', () => {
  it('runs the handler inside enqueue', async () => {
    const sent: unknown[] = [];
    const producer = new InlineQueueProducer({
      'email.send': (job) => sent.push([job.name, job.payload, job.headers]),
    });

    await producer.enqueue('email.send', { to: 'ada' }, { name: 'welcome', headers: { trace: '1' } });

    expect(sent).toEqual([['welcome', { to: 'ada' }, { trace: '1' }]]);
  });

  it('rejects with what the handler throws, and names the handlers it has', async () => {
    const producer = new InlineQueueProducer({ broken: () => Promise.reject(new Error('no')) });

    await expect(producer.enqueue('broken', {})).rejects.toThrow('no');
    await expect(producer.enqueue('missing', {})).rejects.toThrow(
      'No inline handler for queue "missing" (known: broken)',
    );
  });
});

describe('createJobContext', () => {
  it('makes a context whose verdicts can be watched', () => {
    const verdicts: unknown[] = [];
    const job = createJobContext(
      { to: 'ada' },
      { attempt: 3, maxAttempts: 3, decide: (verdict) => verdicts.push(verdict) },
    );

    expect(() => job.discard('no such address')).toThrow('discarded: no such address');
    expect(job).toMatchObject({ payload: { to: 'ada' }, isLastAttempt: true });
    expect(verdicts).toEqual([{ kind: 'discard', reason: 'no such address' }]);
  });
});
