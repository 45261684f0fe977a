// Checked by `npm run typecheck`, never run: the types of declared queues.
import type { EnqueuedJob, PayloadOf, Queue, QueueJobs, QueueProducer, ResultOf } from 'nestjs-sql-queue';
import type { Equal, Expect } from '../expect.js';

declare module 'nestjs-sql-queue' {
  interface QueueJobs {
    'types.mail': { payload: { to: string; cc?: string[] }; result: { messageId: string } };
    'types.tick': { payload: null };
    'types.report': { result: number };
  }
}

export type Declared = [
  Expect<Equal<QueueJobs['types.tick'], { payload: null }>>,
  Expect<Equal<PayloadOf<'types.mail'>, { to: string; cc?: string[] }>>,
  Expect<Equal<ResultOf<'types.mail'>, { messageId: string }>>,
  Expect<Equal<PayloadOf<'types.tick'>, null>>,
  Expect<Equal<ResultOf<'types.tick'>, unknown>>,
  Expect<Equal<PayloadOf<'types.report'>, unknown>>,
  Expect<Equal<PayloadOf<'types.undeclared'>, unknown>>,
  Expect<Equal<PayloadOf<string>, unknown>>,
];

export async function enqueue(producer: QueueProducer): Promise<void> {
  const job = await producer.enqueue('types.mail', { to: 'ada' });
  await producer.enqueue('types.mail', { to: 'ada', cc: ['bob'] }, { delay: '5m', headers: { trace: 't' } });
  await producer.enqueue('types.tick', null);
  await producer.enqueueMany('types.mail', [
    { payload: { to: 'ada' } },
    { payload: { to: 'bob' }, options: { priority: 1 } },
  ]);
  await producer.enqueueMany([
    { queue: 'types.mail', payload: { to: 'ada' } },
    { queue: 'types.tick', payload: null, options: { delay: '5m' } },
  ]);
  await producer.withManager({} as never).enqueue('types.mail', { to: 'ada' });

  // @ts-expect-error a property of the wrong type
  await producer.enqueue('types.mail', { to: 1 });
  // @ts-expect-error a property is missing
  await producer.enqueue('types.mail', {});
  // @ts-expect-error an undeclared property
  await producer.enqueue('types.mail', { to: 'ada', form: 'bob' });
  // @ts-expect-error no payload at all
  await producer.enqueue('types.mail');
  // @ts-expect-error another payload than null
  await producer.enqueue('types.tick', 1);
  // @ts-expect-error one of many is wrong
  await producer.enqueueMany('types.mail', [{ payload: { to: 'ada' } }, { payload: { to: 2 } }]);
  // @ts-expect-error the payload of another queue
  await producer.enqueueMany([{ queue: 'types.tick', payload: { to: 'ada' } }]);
  // @ts-expect-error a property of the wrong type in a transaction
  await producer.withManager({} as never).enqueue('types.mail', { to: 1 });
  // @ts-expect-error an option that does not exist
  await producer.enqueue('types.mail', { to: 'ada' }, { dealy: '5m' });

  void (job satisfies EnqueuedJob);
}

export async function buildStatements(producer: QueueProducer, queue: Queue<'types.mail'>): Promise<void> {
  const statement = await producer.enqueueStatement('types.mail', { to: 'ada' }, { delay: '5m', group: 'a' });
  await queue.enqueueStatement({ to: 'ada' });

  // @ts-expect-error a property of the wrong type
  await producer.enqueueStatement('types.mail', { to: 1 });
  // @ts-expect-error an undeclared property
  await queue.enqueueStatement({ to: 'ada', form: 'bob' });
  // @ts-expect-error one INSERT cannot find the owner of a key
  await producer.enqueueStatement('types.mail', { to: 'ada' }, { key: 'ada' });
  // @ts-expect-error a subject has a row of its own
  await producer.enqueueStatement('types.mail', { to: 'ada' }, { subject: 'user:1' });
  // @ts-expect-error the statement is for another transaction
  await producer.enqueueStatement('types.mail', { to: 'ada' }, { manager: {} as never });

  void (statement satisfies { sql: string; values: (string | number | null)[]; notify: () => void });
}

export async function enqueueIntoOne(queue: Queue<'types.mail'>): Promise<void> {
  await queue.enqueue({ to: 'ada' });
  // @ts-expect-error a property of the wrong type
  await queue.enqueue({ to: 1 });
  // @ts-expect-error one of many is wrong
  await queue.enqueueMany([{ payload: { to: 1 } }]);
}
