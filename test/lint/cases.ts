// Source text for the rules of nestjs-sql-queue/eslint-plugin, by the name of the test.
export type Rule = 'await-enqueue' | 'enqueue-with-manager';

/** A method of a class that injects a producer and two queues. */
const inClass = (statements: string) => `
  import { InjectQueue, Queue, QueueProducer } from 'nestjs-sql-queue';
  class Orders {
    @InjectQueue('order.ship') private readonly shipping!: unknown;
    constructor(
      private readonly producer: QueueProducer,
      private readonly dataSource: DataSource,
      @InjectQueue('order.bill') private readonly queue: Queue<'order.bill'>,
    ) {}
    async place(ids: number[]) { ${statements} }
  }`;

const inTransaction = (statements: string) =>
  inClass(`await this.dataSource.transaction(async (manager) => { ${statements} });`);

export const CASES: Record<Rule, Record<'valid' | 'invalid', Record<string, string>>> = {
  'await-enqueue': {
    valid: {
      'accepts an awaited call': inClass(`await this.producer.enqueue('order', 1);`),
      'accepts a returned call': inClass(`return this.queue.enqueueMany([{ payload: 1 }]);`),
      'accepts a call whose value an arrow function returns': inClass(
        `const send = () => this.producer.publish('t', 1);`,
      ),
      'accepts an error handler in catch()': inClass(`this.producer.enqueue('order', 1).catch(log);`),
      'accepts an error handler in then()': inClass(`this.producer.request('order', 1).then(show, log);`),
      'accepts finally() before catch()': inClass(`this.producer.enqueue('order', 1).finally(stop).catch(log);`),
      'accepts finally() after catch()': inClass(`this.producer.enqueue('order', 1).catch(log).finally(stop);`),
      'accepts a listener that returns the promise': inClass(
        `emitter.on('order', () => this.producer.enqueue('order', 1));`,
      ),
      'accepts a promise that is kept in a variable': inClass(
        `const job = this.producer.enqueue('order', 1); await job;`,
      ),
      'accepts an awaited Promise.all()': inClass(
        `await Promise.all(ids.map((id) => this.producer.enqueue('order', id)));`,
      ),
      'accepts Promise.allSettled(), which never rejects': inClass(
        `Promise.allSettled([this.producer.enqueue('order', 1)]);`,
      ),
      'accepts a call in an awaited condition': inClass(`await (ids.length > 0 && this.queue.enqueue(1));`),
      'accepts a timer whose callback catches errors': inClass(
        `setTimeout(async () => { try { await this.queue.enqueue(1); } catch (error) { log(error); } }, 9);`,
      ),
      'accepts a call inside an argument': inClass(`jobs.push(this.producer.enqueue('order', 1));`),
      'accepts other methods': inClass(`this.producer.withManager(manager); this.queue.cancel(1);`),
      'accepts a Queue of another library': `
        import { Queue } from 'bullmq';
        class Orders { constructor(private queue: Queue) {} place() { this.queue.enqueue(1); } }`,
      'accepts a producer of unknown type': `
        import { QueueProducer } from './own-producer.js';
        function place(producer: QueueProducer) { producer.enqueue('order', 1); }`,
      'accepts a property of the same name in another class': `
        import { QueueProducer } from 'nestjs-sql-queue';
        class Orders { constructor(private producer: QueueProducer) {} }
        class Kafka { constructor(private producer: Producer) {} send() { this.producer.publish('t', 1); } }`,
      'accepts a variable that hides a producer': `
        import { QueueProducer } from 'nestjs-sql-queue';
        function place(producer: QueueProducer) { return (producer: Bus) => { producer.publish('t', 1); }; }`,
    },
    invalid: {
      'reports a call of a producer': inClass(`this.producer.enqueue('order', 1);`),
      'reports a call of a queue': inClass(`this.queue.enqueueMany([{ payload: 1 }]);`),
      'reports a call of a property with a decorator alone': inClass(`this.shipping.enqueue(1);`),
      'reports an optional call': inClass(`this.producer?.publish('t', 1);`),
      'reports void, which handles no error': inClass(`void this.producer.flow(build);`),
      'reports then() without an error handler': inClass(`this.producer.request('order', 1).then(show);`),
      'reports catch() without an error handler': inClass(`this.producer.enqueue('order', 1).catch();`),
      'reports finally() alone': inClass(`this.producer.enqueue('order', 1).finally(stop);`),
      'reports a call after a condition': inClass(`ids.length > 0 && this.queue.enqueue(1);`),
      'reports a branch of a conditional expression': inClass(`ids ? this.queue.enqueue(1) : null;`),
      'reports a callback of forEach()': inClass(`ids.forEach((id) => this.producer.enqueue('order', id));`),
      'reports await in a callback of forEach()': inClass(
        `ids.forEach(async (id) => { await this.producer.enqueue('order', id); });`,
      ),
      'reports map() whose promises are dropped': inClass(`ids.map((id) => this.producer.enqueue('order', id));`),
      'reports Promise.all() that is dropped': inClass(`Promise.all([this.producer.enqueue('order', 1)]);`),
      'reports Promise.all() of mapped promises that is dropped': inClass(
        `Promise.all(ids.map((id) => this.producer.enqueue('order', id)));`,
      ),
      'reports a call in a block of a listener': inClass(
        `emitter.on('order', () => { this.producer.enqueue('order', 1); });`,
      ),
      'reports a callback of a timer': inClass(`setInterval(() => this.producer.signal('tick', 'a'), 1000);`),
      'reports a function that is called and dropped': inClass(`(async () => { await this.queue.enqueue(1); })();`),
      'reports a call through withManager()': inClass(`this.producer.withManager(manager).enqueue('order', 1);`),
      'reports a producer under another name': `
        import { QueueProducer as Jobs } from 'nestjs-sql-queue';
        function place(jobs: Jobs | undefined) { jobs!.enqueue('order', 1); }`,
      'reports a producer of a namespace import': `
        import * as library from 'nestjs-sql-queue';
        class Orders { private producer: library.QueueProducer; place() { this.producer.enqueue('order', 1); } }`,
      'reports a producer that an application returned': `
        import { QueueProducer } from 'nestjs-sql-queue';
        async function place(app) { const producer = app.get(QueueProducer); producer.enqueue('order', 1); }`,
      'reports a private field': `
        import { QueueProducer } from 'nestjs-sql-queue';
        class Orders { #producer: QueueProducer; place() { this.#producer.enqueue('order', 1); } }`,
    },
  },
  'enqueue-with-manager': {
    valid: {
      'accepts { manager }': inTransaction(`await this.producer.enqueue('order', 1, { manager });`),
      'accepts a manager under another name': inClass(
        `await this.dataSource.transaction((tx) => this.producer.publish('t', 1, { delay: '1s', manager: tx }));`,
      ),
      'accepts withManager()': inTransaction(`await this.producer.withManager(manager).enqueue('order', 1);`),
      'accepts a producer that withManager() returned': inTransaction(
        `const producer = this.producer.withManager(manager); await producer.flow(build);`,
      ),
      'accepts the manager of a queue': inTransaction(`await this.queue.enqueue(1, { manager });`),
      'accepts the manager of enqueueMany() with jobs of several queues': inTransaction(
        `await this.producer.enqueueMany(jobs, { manager });`,
      ),
      'accepts the manager of a flow and of a signal': inTransaction(
        `await this.producer.flow(build, { manager }); await this.producer.signal('n', 'k', 1, { manager });`,
      ),
      'accepts options that it cannot see into': inTransaction(
        `await this.producer.enqueue('order', 1, options); await this.queue.enqueue(1, { ...options });`,
      ),
      'accepts arguments that it cannot see into': inTransaction(`await this.producer.enqueue(...job);`),
      'accepts a job outside of a transaction': inClass(`await this.producer.enqueue('order', 1);`),
      'accepts a job after the commit': inTransaction(
        `runOnTransactionCommit(() => this.producer.enqueue('order', 1));`,
      ),
      'accepts enqueueStatement() in a transaction of another ORM': inClass(
        `await this.prisma.$transaction(async (tx) => run(tx, await this.producer.enqueueStatement('order', 1)));`,
      ),
      'accepts the manager of a transaction further outside': inTransaction(
        `await manager.transaction(() => this.producer.enqueue('order', 1, { manager }));`,
      ),
      'accepts a producer that is bound in the argument of a method': inTransaction(
        `await this.bill(this.producer.withManager(manager));`,
      ),
      'accepts verbs that join no transaction': inTransaction(`await this.producer.request('order', 1);`),
      'accepts an object of another library': inTransaction(`await this.bus.publish('t', 1);`),
    },
    invalid: {
      'reports a job without options': inTransaction(`await this.producer.enqueue('order', 1);`),
      'reports options without a manager': inTransaction(`await this.producer.enqueue('order', 1, { delay: '1s' });`),
      'reports a manager that is undefined': inTransaction(
        `await this.producer.enqueue('order', 1, { manager: undefined });`,
      ),
      'reports a manager in the payload': inTransaction(`await this.producer.enqueue('order', { manager });`),
      'reports a job of a queue': inTransaction(`await this.queue.enqueue({ manager });`),
      'reports enqueueMany() of one queue': inTransaction(`await this.producer.enqueueMany('order', jobs);`),
      'reports enqueueMany() of several queues': inTransaction(`await this.producer.enqueueMany(jobs);`),
      'reports a message': inTransaction(`await this.producer.publish('t', 1);`),
      'reports a flow': inTransaction(`await this.producer.flow((flow) => flow.add('order', 1));`),
      'reports a signal': inTransaction(`await this.producer.signal('paid', 'order:1');`),
      'reports a job in a callback inside the transaction': inTransaction(
        `await Promise.all(ids.map((id) => this.producer.enqueue('order', id)));`,
      ),
      'reports a job in a nested transaction': inTransaction(
        `await manager.transaction(async () => { await this.producer.enqueue('order', 1); });`,
      ),
      'reports one job of two in Promise.all()': inTransaction(
        `await Promise.all([this.producer.enqueue('a', 1, { manager }), this.producer.enqueue('b', 1)]);`,
      ),
      'reports a job in a function inside the transaction': inTransaction(
        `const store = async () => { await this.producer.enqueue('order', 1); }; await store();`,
      ),
      'reports a job in a transaction with an isolation level': inClass(
        `await this.dataSource.transaction('SERIALIZABLE', async () => { await this.queue.enqueue(1); });`,
      ),
      'reports a job in job.transaction()': inClass(`await job.transaction(() => this.producer.enqueue('order', 1));`),
      'reports a job in a transaction of another ORM': inClass(
        `await this.prisma.$transaction(async (tx) => this.producer.enqueue('order', 1));`,
      ),
    },
  },
};
