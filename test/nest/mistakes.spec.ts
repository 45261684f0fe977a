import { TypeOrmModule } from '@nestjs/typeorm';
import {
  OnQueueEvent,
  QueueAdmin,
  QueueConsumer,
  QueueProcessor,
  QueueProducer,
  QueueSchedules,
  Schedule,
  SqlQueueModule,
  type JobContext,
} from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { IN_MEMORY, queueModule, start, startError, startErrorOf, type World } from './support/application.js';

/** What is done wrong, how, and what the error or the log must say: what is wrong, and the way out. */
type Mistake = readonly [what: string, act: (world: World) => unknown, says: readonly string[]];

const never = undefined as never;
const decorated = (decorate: MethodDecorator) => {
  class Handlers {
    handle() {}
  }
  decorate(Handlers.prototype, 'handle', Object.getOwnPropertyDescriptor(Handlers.prototype, 'handle')!);
  return Handlers;
};
const withHandler = (decorate: () => MethodDecorator) => startError({ providers: [decorated(decorate())] });
const withSchedule = (...times: object[]) =>
  startError({
    providers: times.map((time, index) =>
      decorated((...target) => {
        (QueueProcessor(`q${index}`) as MethodDecorator)(...target);
        Schedule('nightly', time as never)(...target);
      }),
    ),
  });

const OPTIONS: Mistake[] = [
  [
    'a misspelt option of the module',
    () => startError({}, { conection: IN_MEMORY } as never),
    ['SqlQueueModule options: unknown option "conection", did you mean "connection"?'],
  ],
  [
    'a misspelt option of workers',
    () => startError({}, { worker: { concurency: 5 } as never }),
    ['SqlQueueModule options: worker: unknown option "concurency", did you mean "concurrency"?'],
  ],
  [
    'a misspelt option of a queue',
    () => startError({}, { queues: { mail: { retrys: 1 } as never } }),
    ['SqlQueueModule options: queues["mail"]: unknown option "retrys", did you mean "retry"?'],
  ],
  [
    'a number as a text',
    () => startError({}, { queues: { mail: { concurrency: '10' as never } } }),
    ['SqlQueueModule options: queues["mail"]: expected concurrency to be a whole number from 1 to 10000, got "10"'],
  ],
  [
    'no attempt',
    () => startError({}, { queues: { mail: { retry: 0 } } }),
    ['SqlQueueModule options: queues["mail"]: expected attempts to be a whole number from 1 to 1000000, got 0'],
  ],
  [
    'a negative backoff',
    () => startError({}, { queues: { mail: { retry: { attempts: 2, backoff: -1 } } } }),
    ['SqlQueueModule options: queues["mail"]: expected backoff to be a duration', 'got -1'],
  ],
  [
    'a duration without a unit',
    () => startError({}, { queues: { mail: { lease: '30' as never } } }),
    [`SqlQueueModule options: queues["mail"]: expected lease to be a duration from '1s' to '1d', got "30"`],
  ],
  [
    'a lease that is too short',
    () => startError({}, { queues: { mail: { lease: 10 } } }),
    [`SqlQueueModule options: queues["mail"]: expected lease to be a duration from '1s' to '1d', got 10`],
  ],
  [
    'an unknown unit of time',
    () => startError({}, { queues: { mail: { timeout: '5 minuts' as never } } }),
    ['SqlQueueModule options: queues["mail"]: expected timeout to be false or a', 'got "5 minuts"'],
  ],
  [
    'a retention in words',
    () => startError({}, { queues: { mail: { retention: 'forever' as never } } }),
    ['SqlQueueModule options: queues["mail"]: expected retention to be options', 'got "forever"'],
  ],
  [
    'an unknown order',
    () => startError({}, { queues: { mail: { order: 'random' as never } } }),
    [`SqlQueueModule options: queues["mail"]: expected order to be 'fifo' or 'lifo', got "random"`],
  ],
  [
    'an unknown strategy',
    () => startError({}, { queues: { mail: { claim: 'skip_locked' as never } } }),
    [`SqlQueueModule options: queues["mail"]: expected claim to be 'auto',`, 'got "skip_locked"'],
  ],
  [
    'a rate without a period',
    () => startError({}, { queues: { mail: { rate: { limit: 5 } as never } } }),
    ['SqlQueueModule options: queues["mail"]: expected rate.per to be set, got undefined'],
  ],
  [
    'groups without a place',
    () => startError({}, { queues: { mail: { groups: { concurrency: 0 } } } }),
    ['SqlQueueModule options: queues["mail"]: expected groups.concurrency to be false', 'got 0'],
  ],
  [
    'a queue name with a space',
    () => startError({}, { queues: { 'e mail': {} } }),
    ['SqlQueueModule options: expected queue name to be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, got "e mail"'],
  ],
  [
    'an empty queue name',
    () => startError({}, { queues: { '': {} } }),
    ['SqlQueueModule options: expected queue name to be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, got ""'],
  ],
  [
    'a prefix that no table can have',
    () => startError({}, { prefix: 'a-b' }),
    ['Invalid tables: expected prefix to be 1 to 40 of the characters A-Z a-z 0-9 _, got "a-b"'],
  ],
  [
    'an unknown heartbeat',
    () => startError({}, { worker: { heartbeat: 'threads' as never } }),
    [`SqlQueueModule options: worker: expected heartbeat to be 'main' or 'thread', got "threads"`],
  ],
  [
    'a dead letter queue that is the queue',
    () => startError({}, { queues: { mail: { deadLetter: 'mail' } } }),
    ['SqlQueueModule options: queues["mail"]: expected deadLetter to be another queue, got "mail"'],
  ],
  [
    'dead letters in a circle',
    () => startError({}, { queues: { a: { deadLetter: 'b' }, b: { deadLetter: 'a' } } }),
    ['dead-letter queue "b": expected none of its own, got "a". Set `deadLetter: false` for "b"'],
  ],
  [
    'codec without functions',
    () => startError({}, { codec: {} as never }),
    ['SqlQueueModule options: expected codec to have the methods encode and decode, got object'],
  ],
  [
    'an unknown database',
    () => startError({}, { connection: { type: 'mongodb' } as never }),
    [
      'Expected a DataSource of type mysql, mariadb or better-sqlite3, got mongodb. To',
      "connection: { type: 'mysql', url: … } }).",
    ],
  ],
  [
    'the options of TypeORM for SQLite without a file',
    () => startError({}, { connection: { type: 'better-sqlite3' } as never }),
    ['expected connection.database to be the path of a file, got undefined'],
  ],
  [
    'two modules',
    () => startErrorOf({ imports: [queueModule(), queueModule()] }),
    [
      'SqlQueueModule: expected one SqlQueueModule without a name, got 2. Import',
      "its own: forRoot({ name: 'audit', prefix: 'audit_queue_' })",
    ],
  ],
  [
    'a revision of schedules that is no text',
    () => startError({}, { schedules: { revision: {} as never } }),
    ['SqlQueueModule options: expected schedules.revision to be a whole number of 0', 'got {}'],
  ],
];

const FEATURES: Mistake[] = [
  [
    'the options of the module for those of a queue',
    () => SqlQueueModule.forFeature({ connection: IN_MEMORY } as never),
    [
      'SqlQueueModule.forFeature(): expected the name of a queue, got none. The options of the module belong to SqlQueueModule.forRoot()',
    ],
  ],
  [
    'two names that are no list',
    () => SqlQueueModule.forFeature('a', 'b' as never),
    ['SqlQueueModule.forFeature(): expected several queues in one array, got a further argument "b"'],
  ],
];

const HANDLERS: Mistake[] = [
  [
    'two handlers of one queue',
    () => startError({ providers: [decorated(QueueProcessor('mail')), decorated(QueueProcessor('mail'))] }),
    [
      'Queue handlers: two handlers for queue "mail": Handlers.handle (in',
      'and Handlers.handle (in RootTestModule). Remove one of them',
    ],
  ],
  [
    'a handler without a queue',
    () => withHandler(() => QueueProcessor(never)),
    ['Queue handlers: Handlers.handle: expected queue name to be 1 to 100 of the', 'got undefined'],
  ],
  [
    'a handler with an empty queue name',
    () => withHandler(() => QueueProcessor('')),
    ['Queue handlers: Handlers.handle: expected queue name to be 1 to 100 of the', 'got ""'],
  ],
  [
    'a misspelt option of a handler',
    () => withHandler(() => QueueProcessor('mail', { concurency: 1 } as never)),
    ['Queue handlers: Handlers.handle: unknown option "concurency", did you mean "concurrency"?'],
  ],
  [
    'a cron text with a letter',
    () => withSchedule({ cron: 'x * * * *' }),
    [
      'Schedules: Handlers.handle: Schedule "nightly": expected cron to be a cron',
      'got "x * * * *": configuration entry 1 (x) contains illegal characters.',
    ],
  ],
  [
    'a cron text with too few fields',
    () => withSchedule({ cron: '* *' }),
    [
      'Schedules: Handlers.handle: Schedule "nightly": expected cron to be a cron',
      `got "* *": invalid configuration format ('* *'), exactly five, six, or seven space separated parts are require`,
    ],
  ],
  [
    'a schedule without a time',
    () => withSchedule({}),
    ['Schedules: Handlers.handle: Schedule "nightly": expected cron or every, got neither'],
  ],
  [
    'a schedule with two times',
    () => withSchedule({ cron: '* * * * *', every: '1m' }),
    ['Schedules: Handlers.handle: Schedule "nightly": expected either cron or every, got both'],
  ],
  [
    'an unknown time zone',
    () => withSchedule({ cron: '0 3 * * *', tz: 'Europe/Berln' }),
    ['Schedules: Handlers.handle: Schedule "nightly": expected tz to be a time zone', 'got "Europe/Berln"'],
  ],
  [
    'two schedules of one name',
    () => withSchedule({ every: '1m' }, { every: '2m' }),
    ['Queue handlers: two schedules "nightly": Handlers.handle and Handlers.handle. Give one another name'],
  ],
  [
    'a misspelt event',
    () => withHandler(() => OnQueueEvent('complete' as never)),
    ['Queue handlers: Handlers.handle: unknown event "complete", did you mean "completed"?'],
  ],
];

const ENQUEUE: Mistake[] = (
  [
    [
      'a misspelt manager',
      { manger: {} },
      'Cannot enqueue into "mail": unknown option "manger", did you mean "manager"?',
    ],
    ['a misspelt option', { dely: '1m' }, 'Cannot enqueue into "mail": unknown option "dely", did you mean "delay"?'],
    [
      'a negative delay',
      { delay: -1 },
      'Cannot enqueue into "mail": expected delay to be a duration (milliseconds of 0',
      'got -1',
    ],
    [
      'a delay in an unknown unit',
      { delay: '5 parsecs' },
      'Cannot enqueue into "mail": expected delay to be a duration (milliseconds of 0',
      'got "5 parsecs"',
    ],
    [
      'a date in words',
      { runAt: 'tomorrow' },
      'Cannot enqueue into "mail": expected runAt to be a Date between 1970 and 9999, got "tomorrow"',
    ],
    [
      'an invalid date',
      { runAt: new Date('x') },
      'Cannot enqueue into "mail": expected runAt to be a Date between 1970 and 9999, got Date(invalid)',
    ],
    [
      'a delay and a date',
      { delay: 1, runAt: new Date() },
      'Cannot enqueue into "mail": expected either delay or runAt, got both',
    ],
    [
      'a fraction as priority',
      { priority: 1.5 },
      'Cannot enqueue into "mail": expected priority to be a whole number from -32768 to 32767, got 1.5',
    ],
    [
      'a priority out of range',
      { priority: 1e9 },
      'Cannot enqueue into "mail": expected priority to be a whole number from -32768 to 32767, got 1000000000',
    ],
    [
      'an empty key',
      { key: '' },
      'Cannot enqueue into "mail": expected key to be a text of 1 to 255 characters, got ""',
    ],
    [
      'a rule for conflicts without a key',
      { onConflict: 'replace' },
      'Cannot enqueue into "mail": expected key beside onConflict, got none',
    ],
    [
      'an unknown rule for conflicts',
      { key: 'a', onConflict: 'upsert' },
      `Cannot enqueue into "mail": expected onConflict to be 'return', 'reject',`,
      'got "upsert"',
    ],
    [
      'a key until an unknown time',
      { key: 'a', keyUntil: 'never' },
      `Cannot enqueue into "mail": expected keyUntil to be 'started', 'finished' or a`,
      'got "never"',
    ],
    [
      'headers that are no texts',
      { headers: { a: 1 } },
      'Cannot enqueue into "mail": expected header "a" to be a text, got 1',
    ],
    [
      'a misspelt retry',
      { retry: { attemps: 1 } },
      'Cannot enqueue into "mail": unknown option "attemps", did you mean "attempts"?',
    ],
    [
      'a group of a queue without groups',
      { group: 'g' },
      'Cannot enqueue into "mail": queue "mail" has no groups; add groups: {} to its options',
    ],
    [
      'a timeout of nothing',
      { timeout: 0 },
      'Cannot enqueue into "mail": expected timeout to be a duration (milliseconds of',
      'got 0',
    ],
    [
      'a manager that is none',
      { manager: {} },
      'Invalid manager: expected an EntityManager or QueryRunner of TypeORM, got',
      '(manager) => …) gives you, or leave `manager` out.',
    ],
  ] as const
).map(([what, options, ...says]) => [what, ({ get }) => get(QueueProducer).enqueue('mail', 1, options as never), says]);

const circle: { self?: unknown } = {};
circle.self = circle;
const PAYLOADS: Mistake[] = (
  [
    [
      'a function',
      () => undefined,
      'Payload for queue "mail": expected a value that JSON can carry, got a function at the top level',
    ],
    [
      'a bigint',
      1n,
      'Payload for queue "mail": expected a value that JSON can carry, got a BigInt (1n) at the top level',
    ],
    [
      'a Map',
      new Map([[1, 2]]),
      'Payload for queue "mail": expected a value that JSON can carry, got a Map at the top level',
    ],
    [
      'a Set',
      new Set([1]),
      'Payload for queue "mail": expected a value that JSON can carry, got a Set at the top level',
    ],
    [
      'a number that is none',
      { a: [1, NaN] },
      'Payload for queue "mail": expected a value that JSON can carry, got NaN at a.1',
    ],
    [
      'an invalid date',
      { at: new Date('x') },
      'Payload for queue "mail": expected a value that JSON can carry, got an invalid Date at at',
    ],
    [
      'a circle',
      circle,
      'Payload for queue "mail": expected a value that JSON can carry, got a circular reference at self',
    ],
    [
      'undefined in a list',
      [undefined],
      'Payload for queue "mail": expected a value that JSON can carry, got undefined at 0',
    ],
    [
      'a symbol',
      Symbol('x'),
      'Payload for queue "mail": expected a value that JSON can carry, got a symbol at the top level',
    ],
    [
      'a megabyte too much',
      'x'.repeat(2_000_000),
      'The payload of a job for queue "mail" has 2000002 bytes, expected at most',
      'into the payload, or raise the option `maxPayloadBytes`.',
    ],
    [
      'a class without JSON',
      new (class Money {
        #cents = 1;
        get cents() {
          return this.#cents;
        }
      })(),
      'Payload for queue "mail": expected a value that JSON can carry, got an instance',
      'pass a plain object of its fields, or give it a toJSON()',
    ],
  ] as const
).map(([what, payload, ...says]) => [
  `${what} as payload`,
  ({ get }) => get(QueueProducer).enqueue('mail', payload),
  says,
]);

const PRODUCER: Mistake[] = [
  [
    'enqueueing into a queue name with a space',
    ({ get }) => get(QueueProducer).enqueue('e mail', 1),
    ['Invalid queue: expected queue name to be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, got "e mail"'],
  ],
  [
    'no queue name',
    ({ get }) => get(QueueProducer).enqueue(never, 1 as never),
    ['Invalid queue: expected queue name to be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, got undefined'],
  ],
  [
    'an object for a list of jobs',
    ({ get }) => get(QueueProducer).enqueueMany('mail', {} as never),
    ['Cannot enqueue into "mail": expected a list of { payload, options? }, got {}'],
  ],
  [
    'a payload for a job in a list',
    ({ get }) => get(QueueProducer).enqueueMany('mail', ['a'] as never),
    ['Cannot enqueue into "mail": expected job 0 to be { payload, options? }, got "a"'],
  ],
  [
    'a manager without a transaction',
    async ({ get }) => get(QueueProducer).enqueue('mail', 1, { manager: get(DataSource).manager }),
    [
      'Invalid manager: expected a manager of the DataSource that holds the queue, got',
      '(manager) => …) gives you, or leave `manager` out.',
    ],
  ],
  [
    'a manager of another database',
    async ({ get }) => {
      const other = await new DataSource({ ...IN_MEMORY }).initialize();
      try {
        await other.transaction((manager) => get(QueueProducer).enqueue('mail', 1, { manager }));
      } finally {
        await other.destroy();
      }
    },
    [
      'Invalid manager: expected a manager of the DataSource that holds the queue, got',
      '(manager) => …) gives you, or leave `manager` out.',
    ],
  ],
  [
    'waiting for a text',
    ({ get }) => get(QueueProducer).waitFor('1' as never),
    ['Invalid job id: expected a job id: a whole number of 1 or more, got "1"'],
  ],
  [
    'waiting for an unknown job',
    ({ get }) => get(QueueProducer).waitFor(4_711),
    [
      'There is no job 4711: it never existed, it was removed, or its retention is',
      'of another instance of SqlQueueModule is found there only.',
    ],
  ],
  [
    'waiting for too short a time',
    ({ get }) => get(QueueProducer).waitFor(1, { timeout: 'soon' as never }),
    ['Cannot wait for job 1: expected timeout to be a duration (milliseconds of 0 or', 'got "soon"'],
  ],
  [
    'a flow without a function',
    ({ get }) => get(QueueProducer).flow({} as never),
    ['Cannot store the flow: expected a function that adds jobs, got {}'],
  ],
  [
    'a flow after a job that is none',
    ({ get }) => get(QueueProducer).flow((f) => f.add('mail', 1, { after: [1 as never] })),
    ['Cannot add a job to the flow: expected after to be a job, or a list of jobs,', 'got [1]'],
  ],
  [
    'a signal without a key',
    ({ get }) => get(QueueProducer).signal('paid', never),
    ['Cannot send a signal: expected key to be a text of 1 to 255 characters, got undefined'],
  ],
  [
    'a topic with a space',
    ({ get }) => get(QueueProducer).publish('a b', 1),
    ['Invalid topic: expected topic to be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, got "a b"'],
  ],
  [
    'cancelling a text',
    ({ get }) => get(QueueProducer).cancel('1' as never),
    ['Invalid filter: expected an object, got "1"'],
  ],
  [
    'enqueueing after the end',
    async ({ get, close }) => {
      const producer = get(QueueProducer);
      await close();
      await producer.enqueue('mail', 1);
    },
    [
      'The queue is closed, since its application has been shut down. Use it, and',
      'hooks onModuleDestroy() and beforeApplicationShutdown().',
    ],
  ],
];

const ADMIN: Mistake[] = (
  [
    [
      'reading a job by a text',
      (admin) => admin.get('1' as never),
      'Invalid job id: expected a job id: a whole number of 1 or more, got "1"',
    ],
    [
      'a filter with a misspelt condition',
      (admin) => admin.find({ sate: 'dead' } as never),
      'Invalid filter: unknown option "sate", did you mean "state"?',
    ],
    [
      'a filter with an unknown state',
      (admin) => admin.find({ state: 'done' as never }),
      'Invalid filter: expected state to be one of scheduled, waiting, active,',
      'got "done"',
    ],
    [
      'a page of a million',
      (admin) => admin.find({}, { limit: 1e6 }),
      'Invalid page: expected limit to be a whole number from 1 to 1000, got 1000000',
    ],
    [
      'a page after a wrong place',
      (admin) => admin.find({}, { after: 'x' }),
      'Invalid page: expected after to be the `next` of a page of the same list in the same order, got "x"',
    ],
    [
      'removing by an empty filter',
      (admin) => admin.remove({}),
      'Invalid filter: expected at least one of queue, state, name, error, key, group, schedule, owner,',
      'got {}',
    ],
    [
      'removing by an undefined queue',
      (admin) => admin.remove({ queue: undefined }),
      'Invalid filter: expected at least one of queue, state, name, error, key, group, schedule, owner,',
      'got {}',
    ],
    [
      'removing all with false',
      (admin) => admin.remove({ all: false as never }),
      'Invalid filter: expected all to be true, or left out, got false',
    ],
    [
      'cancelling a state that has ended',
      (admin) => admin.cancel({ state: 'dead' }),
      'Cannot cancel: expected state to be one of scheduled, waiting, blocked, active, got "dead"',
    ],
    [
      'retrying waiting jobs',
      (admin) => admin.retry({ state: 'waiting' }),
      'Cannot retry: expected state to be one of scheduled, dead, cancelled, got "waiting"',
    ],
    [
      'retrying at a rate in words',
      (admin) => admin.retry([1], { rate: 'slowly' as never }),
      "Cannot retry: expected rate to be like '10/s' (or m, h, d) or { jobs, per },",
      'got "slowly"',
    ],
    [
      'rescheduling to a wrong date',
      (admin) => admin.reschedule(1, 'soon' as never),
      'Cannot reschedule job 1: expected the time to be a duration (milliseconds of 0',
      'got "soon"',
    ],
    [
      'a priority out of range',
      (admin) => admin.reprioritise(1, 99_999),
      'Cannot reprioritise job 1: expected priority to be a whole number from -32768 to 32767, got 99999',
    ],
    ['updating nothing', (admin) => admin.update(1, {}), 'Cannot update job 1: expected payload or headers, got {}'],
    [
      'updating an unknown field',
      (admin) => admin.update(1, { data: 1 } as never),
      'unknown option "data" (known: payload, headers, keepSteps)',
    ],
    [
      'a limit that is none',
      (admin) => admin.limit('mail', { maxRunning: 'two' as never }),
      'Cannot limit the queue: expected maxRunning to be false or a whole number from 1 to 1000000, got "two"',
    ],
    [
      'a limit without a value',
      (admin) => admin.limit('mail', {}),
      'Cannot limit the queue: expected at least one of maxRunning, rate, rest, got {}',
    ],
    [
      'a misspelt setting',
      (admin) => admin.configure('mail', { concurency: 1 } as never),
      'Cannot configure the queue: unknown option "concurency", did you mean "concurrency"?',
    ],
    [
      'obliterating without a confirmation',
      (admin) => admin.obliterate('mail', {}),
      'Cannot obliterate queue "mail": expected confirm to be "mail", got undefined',
    ],
    [
      'obliterating with another confirmation',
      (admin) => admin.obliterate('mail', { confirm: 'mails' }),
      'Cannot obliterate queue "mail": expected confirm to be "mail", got "mails"',
    ],
    [
      'subscribing without a topic',
      (admin) => admin.subscribe('mail', {} as never),
      'Cannot subscribe "mail": expected topic to be 1 to 100 of the characters A-Z',
      'got undefined',
    ],
    [
      'a history of an unknown step',
      (admin) => admin.history('mail', { step: 'week' as never }),
      `Cannot read the history: expected step to be 'minute', 'hour' or 'day', got "week"`,
    ],
    [
      'a history of a wrong time',
      (admin) => admin.history('mail', { from: '2026' as never }),
      'Cannot read the history: expected from to be a valid Date from 1970 on, got "2026"',
    ],
    [
      'an author without a name',
      (admin) => admin.as(''),
      'Cannot name the administrator: expected the administrator to be a text of 1 to 255 characters, got ""',
    ],
    [
      'erasing nobody',
      (admin) => admin.erase(''),
      'Cannot erase: expected the subject to be a text of 1 to 255 characters without a space at the end, got ""',
    ],
    [
      'a weight of nothing',
      (admin) => admin.group('mail', 'g').limit({ weight: 0 }),
      'Cannot limit the group: expected weight to be a whole number from 1 to 1000, got 0',
    ],
    [
      'a group without a name',
      (admin) => admin.group('mail', '').pause(),
      'Cannot administer the group: expected the group to be a text of 1 to 100',
      'got ""',
    ],
  ] as readonly [string, (admin: QueueAdmin) => unknown, ...string[]][]
).map(([what, act, ...says]) => [what, ({ admin }) => act(admin), says]);

const SCHEDULES: Mistake[] = (
  [
    [
      'storing a schedule without a queue',
      (all) => all.upsert('s', { every: '1m' } as never),
      'Invalid queue: expected queue name to be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, got undefined',
    ],
    [
      'storing a schedule without a time',
      (all) => all.upsert('s', { queue: 'mail' }),
      'Schedule "s": expected cron or every, got neither',
    ],
    [
      'storing one with a wrong cron text',
      (all) => all.upsert('s', { queue: 'mail', cron: '61 * * * *' }),
      'Schedule "s": expected cron to be a cron expression, got "61 * * * *": Invalid value for minute: 61',
    ],
    [
      'storing one with an unknown zone',
      (all) => all.upsert('s', { queue: 'mail', cron: '* * * * *', tz: 'CEST+1' }),
      'Schedule "s": expected tz to be a time zone such as Europe/Berlin, got "CEST+1"',
    ],
    [
      'storing one with an unknown rule',
      (all) => all.upsert('s', { queue: 'mail', every: '1m', overlap: 'never' as never }),
      `Schedule "s": expected overlap to be 'allow', 'skip' or 'one-waiting', got "never"`,
    ],
    [
      'pausing an unknown schedule',
      (all) => all.pause('nightly'),
      'There is no schedule "nightly": it was removed, or no process has declared or stored it.',
    ],
    [
      'running an unknown schedule',
      (all) => all.runNow('nightly'),
      'There is no schedule "nightly": it was removed, or no process has declared or stored it.',
    ],
    [
      'a preview of a wrong time',
      (all) => all.preview({ cron: 'x' }),
      'Schedule "preview": expected cron to be a cron expression, got "x": invalid',
      'five, six, or seven space separated parts are required.',
    ],
  ] as readonly [string, (all: QueueSchedules) => unknown, ...string[]][]
).map(([what, act, ...says]) => [what, ({ get }) => act(get(QueueSchedules)), says]);

const PEOPLE: Mistake[] = (
  [
    [
      'claiming no job',
      (consumer) => consumer.claim('mail', { owner: 'ann', limit: 0 }),
      'Cannot claim: expected limit to be a whole number from 1 to 100, got 0',
    ],
    [
      'completing the job of nobody',
      (consumer) => consumer.complete(4_711, { owner: 'ann' }),
      'There is no job 4711: it never existed, it was removed, or its retention is',
      'of another instance of SqlQueueModule is found there only.',
    ],
    [
      'extending by nothing',
      (consumer) => consumer.extend(1, { owner: 'ann', lease: 0 as never }),
      'Cannot extend: expected lease to be a duration of 1s or more, got 0',
    ],
    [
      'moving to an empty stage',
      (consumer) => consumer.move(1, { owner: 'ann', stage: '' }),
      'Cannot move: expected stage to be a text of 1 to 100 characters without spaces at its ends, got ""',
    ],
    [
      'failing without an error',
      (consumer) => consumer.fail(1, { owner: 'ann' } as never),
      'Cannot fail: expected error to be an Error or a text, got undefined',
    ],
  ] as readonly [string, (consumer: QueueConsumer) => unknown, ...string[]][]
).map(([what, act, ...says]) => [what, ({ get }) => act(get(QueueConsumer)), says]);

/** Mistakes in a handler: the error is stored with its job. */
const RUNS: Mistake[] = (
  [
    [
      'a step without a name',
      (job) => job.step('', () => 1),
      'dead: Invalid step: expected step name to be 1 to 100 of the characters A-Z a-z 0-9 . _ : -, got ""',
    ],
    [
      'a step without work',
      (job) => job.step('a', never),
      'dead: Invalid step: expected the work of a step to be a function, got undefined',
    ],
    [
      'two steps of one name',
      async (job) => {
        await job.step('a', () => 1);
        await job.step('a', () => 1);
      },
      'dead: Job 1 of queue "run": expected each step of a run to have a name of its',
      'got "a" twice. In a loop, add the index to the name.',
    ],
    [
      'a step in a step',
      (job) => job.step('a', () => job.step('b', () => 1)),
      'dead: Job 1 of queue "run": expected one step at a time, got step "b" while "a"',
      'while "a" was running. Await each step before the next one.',
    ],
    [
      'a step whose result is no JSON',
      (job) => job.step('a', () => new Map()),
      'dead: Payload for queue "run": result: expected a value that JSON can carry, got a Map at the top level',
    ],
    [
      'a sleep until a word',
      (job) => job.sleep('a', 'soon' as never),
      'dead: Cannot sleep: expected the time to be a duration (milliseconds of 0 or',
      'got "soon"',
    ],
    [
      'a snooze until a word',
      (job) => job.snooze('soon' as never),
      'dead: Cannot snooze: expected the time to be a duration (milliseconds of 0 or',
      'got "soon"',
    ],
    [
      'a result that is no JSON',
      () => 1n,
      'completed: Payload for queue "run": result: expected a value that JSON can',
      'got a BigInt (1n) at the top level',
    ],
    [
      'a progress that is no JSON',
      (job) => job.progress(1n),
      'dead: Payload for queue "run": progress: expected a value that JSON can carry,',
      'that JSON can carry, got a BigInt (1n) at the top level',
    ],
    ['a line that is no text', (job) => job.log({} as never), 'completed: undefined'],
    [
      'a forgotten await',
      (job) => {
        void job.sleep('a', '1m');
      },
      'dead: Job 1 of queue "run": expected the handler to await job.sleep("a"), got its end before. Add "await".',
    ],
    [
      'a signal without a key',
      (job) => job.waitFor('paid', {} as never),
      'Cannot wait for a signal: expected key to be a text of 1 to 255 characters, got undefined',
    ],
    [
      'an error that is a text',
      () => {
        // oxlint-disable-next-line typescript/only-throw-error -- the mistake
        throw 'it fails';
      },
      'dead: A handler threw something that is no Error: it fails',
    ],
    [
      'an error that is undefined',
      () => {
        // oxlint-disable-next-line typescript/only-throw-error -- the mistake
        throw undefined;
      },
      'dead: A handler threw something that is no Error: undefined',
    ],
  ] as readonly [string, (job: JobContext) => unknown, ...string[]][]
).map(([what, act, ...says]) => [
  `${what} in a handler`,
  async () => {
    class Handlers {
      @QueueProcessor('run')
      run(job: JobContext) {
        return act(job);
      }
    }
    const world = await start({ providers: [Handlers] });
    const { id } = await world.get(QueueProducer).enqueue('run', 1);
    const ended = await world.ended({ id });
    throw new Error(`${ended.state}: ${ended.error?.message}`);
  },
  says,
]);

describe('a mistake', () => {
  it.each([
    ...OPTIONS,
    ...FEATURES,
    ...HANDLERS,
    ...ENQUEUE,
    ...PAYLOADS,
    ...PRODUCER,
    ...ADMIN,
    ...SCHEDULES,
    ...PEOPLE,
    ...RUNS,
  ])('is answered with the way out: %s', async (what, act, says) => {
    const world = await start({ imports: [TypeOrmModule.forRoot(IN_MEMORY)] });

    const error = await (async () => act(world))().then(
      (answer) => (answer instanceof Error ? answer : new Error('no error')),
      (rejection: Error) => rejection,
    );

    for (const part of says) expect(error.message).toContain(part);
  });
});
