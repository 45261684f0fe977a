import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import {
  JobContext,
  QueueProcessor,
  QueueProducer,
  SqlQueueRunner,
  type SqlQueueModuleOptions,
} from 'nestjs-sql-queue';
import { OpenTelemetryInstrumentation, type OpenTelemetryOptions } from 'nestjs-sql-queue/otel';
import { start } from './support/application.js';
import { collectMetrics, installSdk, parentOf, type Measurement } from './support/open-telemetry.js';

declare const OTEL_MAJOR: number;

const sdk = installSdk();

class Handlers {
  readonly seen: Record<string, unknown> = {};

  @QueueProcessor('one')
  one(job: JobContext<{ fail?: boolean }>) {
    this.seen[job.id] = propagation.getActiveBaggage()?.getEntry('tenant')?.value;
    sdk.tracer.startSpan('inner').end();
    if (job.payload.fail) throw Object.assign(new TypeError('boom'), { code: 'E_BOOM' });
  }

  @QueueProcessor('flaky', { retry: { attempts: 2, backoff: 0 } })
  flaky(job: JobContext) {
    if (job.attempt === 1) throw new TypeError('once');
  }

  @QueueProcessor('many', { batch: 10 })
  many(jobs: JobContext[]) {
    this.seen.many = propagation
      .getActiveBaggage()
      ?.getAllEntries()
      .map(([key, { value }]) => `${key}=${value}`);
    return jobs.map((_, index) =>
      index === 0 ? { status: 'rejected', reason: new TypeError('first') } : { status: 'fulfilled' },
    );
  }

  @QueueProcessor('one.dead')
  dead(job: JobContext) {
    this.seen.dead = job.headers;
  }

  @QueueProcessor('snoozing')
  snoozing(job: JobContext) {
    job.snooze('1h');
  }
}

async function startTraced(telemetry: OpenTelemetryOptions = {}, options: SqlQueueModuleOptions = {}) {
  const instrumentation = new OpenTelemetryInstrumentation(telemetry);
  const world = await start({ providers: [Handlers] }, { instrumentations: [instrumentation], ...options });
  return { ...world, instrumentation, producer: world.get(QueueProducer), handlers: world.get(Handlers) };
}

/** Runs `act` in a span of the application. */
async function inSpan<T>(name: string, act: () => Promise<T>, base: Context = ROOT_CONTEXT): Promise<T> {
  const span = sdk.tracer.startSpan(name, {}, base);
  try {
    return await context.with(trace.setSpan(base, span), act);
  } finally {
    span.end();
  }
}

function withTenant(tenant: string): Context {
  return propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage({ tenant: { value: tenant } }));
}

function spans(name?: string): ReadableSpan[] {
  return sdk.exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name);
}

function only(name: string): ReadableSpan {
  const found = spans(name);
  expect(found).toHaveLength(1);
  return found[0]!;
}

const idOf = (span: ReadableSpan) => span.spanContext().spanId;
const traceOf = (span: ReadableSpan) => span.spanContext().traceId;
const linked = (span: ReadableSpan) => span.links.map((link) => link.context.spanId);

beforeEach(() => sdk.exporter.reset());

describe('the spans of a job', () => {
  it('are a producer in the trace of the caller, and a consumer in a trace of its own with a link', async () => {
    const { producer, ended } = await startTraced();

    const job = await inSpan('POST /signup', () => producer.enqueue('one', { text: 'ä' }));
    expect(await ended(job)).toMatchObject({ state: 'completed' });

    const [request, send, process, inner] = ['POST /signup', 'send one', 'process one', 'inner'].map(only);
    expect([send!.kind, parentOf(send!)]).toEqual([SpanKind.PRODUCER, idOf(request!)]);
    expect([process!.kind, parentOf(process!)]).toEqual([SpanKind.CONSUMER, undefined]);
    expect(traceOf(process!)).not.toBe(traceOf(request!));
    expect(linked(process!)).toEqual([idOf(send!)]);
    expect(parentOf(inner!)).toBe(idOf(process!));
    const system = { 'messaging.system.name': 'nestjs_sql_queue', 'messaging.system': 'nestjs_sql_queue' };
    const shared = {
      ...system,
      'messaging.destination.name': 'one',
      'messaging.message.id': String(job.id),
      'sql_queue.job.name': 'default',
    };
    expect(send!.attributes).toEqual({
      ...shared,
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.message.body.size': 13,
    });
    expect(process!.attributes).toEqual({
      ...shared,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'sql_queue.job.attempt': 1,
      'sql_queue.job.outcome': 'completed',
    });
  });

  it.each<[string, OpenTelemetryOptions['parent']]>([
    ['with parent: child', 'child'],
    ['if a function decides so', ({ queue }) => (queue === 'one' ? 'child' : 'link')],
  ])('are in one trace %s', async (_, parent) => {
    const { producer, ended } = await startTraced({ parent });

    await ended(await producer.enqueue('one', {}));

    const [send, process] = ['send one', 'process one'].map(only);
    expect(parentOf(process!)).toBe(idOf(send!));
    expect(traceOf(process!)).toBe(traceOf(send!));
    expect(process!.links).toEqual([]);
  });

  it('carry baggage to the handler, as a link and as a child', async () => {
    for (const parent of ['link', 'child'] as const) {
      const { producer, ended, handlers } = await startTraced({ parent });

      const job = await inSpan('request', () => producer.enqueue('one', {}), withTenant('acme'));
      await ended(job);

      expect(handlers.seen[job.id]).toBe('acme');
    }
  });

  it('have no context of the code in which the job was enqueued, if the handler runs in the same process', async () => {
    const { producer, handlers, ended } = await startTraced();

    const job = await context.with(withTenant('acme'), () => producer.enqueue('one', {}, { headers: { baggage: '' } }));
    const plain = await producer.enqueue('one', {});
    await ended(job);
    await ended(plain);

    expect([handlers.seen[job.id], handlers.seen[plain.id]]).toEqual(['acme', undefined]);
  });

  it('of enqueueMany and of a batch are one each, with distinct links and the common baggage', async () => {
    const { producer, runner, idle, handlers } = await startTraced();
    runner.pause('many');
    const many = (tenant: string, more: Record<string, { value: string }> = {}) => {
      const baggage = propagation.createBaggage({ tenant: { value: tenant }, region: { value: 'eu' }, ...more });
      const base = propagation.setBaggage(ROOT_CONTEXT, baggage);
      return inSpan('request', () => producer.enqueueMany('many', [{ payload: 1 }, { payload: 2 }]), base);
    };
    await many('acme');
    await many('initech', { only: { value: 'here' } });
    runner.resume('many');
    await idle();

    const sends = spans('send many');
    const process = only('process many');
    expect(sends.map(({ attributes }) => attributes['messaging.batch.message_count'])).toEqual([2, 2]);
    expect(linked(process)).toEqual(sends.map(idOf));
    expect(process.attributes).toMatchObject({ 'messaging.batch.message_count': 4, 'error.type': 'TypeError' });
    expect(process.attributes).not.toHaveProperty('messaging.message.id');
    expect(process.status.code).toBe(SpanStatusCode.ERROR);
    expect(handlers.seen.many).toEqual(['region=eu']);
  });

  it('keep the link in each attempt', async () => {
    const { producer, ended } = await startTraced();

    await ended(await producer.enqueue('flaky', {}));

    const send = only('send flaky');
    const runs = spans('process flaky');
    const facts = runs.map((run) => [
      linked(run),
      run.attributes['sql_queue.job.attempt'],
      run.attributes['sql_queue.job.outcome'],
      run.status.code,
    ]);
    expect(facts).toEqual([
      [[idOf(send)], 1, 'failed', SpanStatusCode.ERROR],
      [[idOf(send)], 2, 'completed', SpanStatusCode.UNSET],
    ]);
  });

  it('record the error of a handler, and its dead letter keeps the link', async () => {
    const { producer, idle, handlers } = await startTraced({}, { queues: { one: { deadLetter: 'one.dead' } } });

    await producer.enqueue('one', { fail: true });
    await idle();

    const [send, failed, letter] = ['send one', 'process one', 'process one.dead'].map(only);
    expect(failed!.status).toEqual({ code: SpanStatusCode.ERROR, message: 'boom' });
    expect(failed!.attributes).toMatchObject({ 'error.type': 'E_BOOM', 'sql_queue.job.outcome': 'dead' });
    expect(failed!.events).toMatchObject([{ name: 'exception', attributes: { 'exception.message': 'boom' } }]);
    expect(linked(letter!)).toEqual([idOf(send!)]);
    expect(handlers.seen.dead).toHaveProperty('traceparent');
  });

  it('show a snooze as an outcome, not as an error', async () => {
    const { producer, ended } = await startTraced();

    await ended(await producer.enqueue('snoozing', {}));

    const process = only('process snoozing');
    expect(process.attributes['sql_queue.job.outcome']).toBe('snoozed');
    expect([process.status.code, process.events]).toEqual([SpanStatusCode.UNSET, []]);
  });

  it('record a rejected enqueue', async () => {
    const { producer } = await startTraced({}, { worker: false, queues: { full: { maxWaiting: 1 } } });
    await producer.enqueue('full', {});
    sdk.exporter.reset();

    await expect(producer.enqueue('full', {})).rejects.toMatchObject({ code: 'QUEUE_FULL' });

    const send = only('send full');
    expect(send.status.code).toBe(SpanStatusCode.ERROR);
    expect(send.attributes['error.type']).toBe('QUEUE_FULL');
  });

  it('start a new trace if the headers of the job have no room for the context', async () => {
    const { producer, ended } = await startTraced();

    const job = await producer.enqueue('one', {}, { headers: { own: 'x'.repeat(16_370) } });

    expect((await ended(job)).headers).not.toHaveProperty('traceparent');
    expect(only('process one').links).toEqual([]);
  });

  it('never have the payload', async () => {
    const { producer, ended } = await startTraced();

    await ended(await producer.enqueue('one', { fail: false, secret: 'hunter2' }));

    const recorded = spans().map(({ attributes, events, links }) => [attributes, events, links]);
    expect(JSON.stringify(recorded)).not.toContain('hunter2');
  });

  it('are left out with traces: false', async () => {
    const { producer, ended } = await startTraced({ traces: false });

    const job = await ended(await producer.enqueue('one', {}));

    expect(job.headers).toEqual({});
    expect(spans().map(({ name }) => name)).toEqual(['inner']);
  });
});

describe('the metrics of jobs', () => {
  const find = (all: readonly Measurement[], name: string, attributes: object) =>
    all.filter(
      (one) => one.name === name && Object.entries(attributes).every(([key, value]) => one.attributes[key] === value),
    );

  it('count sent and consumed jobs, and measure runs, waits and calls of the database', async () => {
    const { meterProvider, collect } = collectMetrics();
    const { producer, idle, ended } = await startTraced({ meterProvider });

    await producer.enqueueMany('flaky', [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    await ended(await producer.enqueue('one', { fail: true }));
    await idle();
    const all = await collect();

    const to = { 'messaging.destination.name': 'flaky' };
    expect(find(all, 'messaging.client.sent.messages', to)).toMatchObject([{ value: 3, unit: '{message}' }]);
    expect(find(all, 'messaging.client.consumed.messages', to)).toMatchObject([{ value: 6 }]);
    const runs = find(all, 'messaging.process.duration', to);
    expect(runs.map(({ attributes, count }) => [attributes['error.type'], count])).toEqual(
      expect.arrayContaining([
        ['TypeError', 3],
        [undefined, 3],
      ]),
    );
    expect(runs[0]).toMatchObject({
      unit: 's',
      boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    });
    const waits = find(all, 'sql_queue.job.wait', to);
    expect(waits).toMatchObject([{ count: 6, unit: 's' }]);
    expect(waits[0]!.attributes).toEqual(to);
    const operation = (name: string) => ({ 'messaging.operation.name': name, 'messaging.destination.name': 'one' });
    expect(find(all, 'messaging.client.operation.duration', operation('send'))).toMatchObject([{ count: 1 }]);
    expect(
      find(all, 'messaging.client.operation.duration', {
        'messaging.operation.type': 'receive',
        ...operation('claim'),
      })[0]!.count,
    ).toBeGreaterThan(0);
    expect(
      find(all, 'messaging.client.operation.duration', { 'messaging.operation.type': 'settle' })[0]!.count,
    ).toBeGreaterThan(0);
    expect(find(all, 'messaging.process.duration', { 'error.type': 'E_BOOM' })).toMatchObject([{ count: 1 }]);
  });

  it('show the jobs and slots of each queue when a reader collects, until they are removed', async () => {
    const { meterProvider, collect } = collectMetrics();
    const { producer, admin, runner, instrumentation, get } = await startTraced({ meterProvider });
    let samples = 0;
    const counted = { stats: () => (samples++, admin.stats({ maxAge: 0 })) };
    const stop = instrumentation.observeQueues({ admin: counted, runner: get(SqlQueueRunner) });
    runner.pause('one');
    await producer.enqueueMany('one', [{ payload: {} }, { payload: {} }]);
    await producer.enqueue('later', {}, { delay: '1h' });
    expect(samples).toBe(0);

    const all = await collect();
    stop();
    await collect();

    expect(samples).toBe(1);
    const one = { 'messaging.destination.name': 'one' };
    expect(find(all, 'sql_queue.jobs', { ...one, 'sql_queue.job.state': 'waiting' })).toMatchObject([{ value: 2 }]);
    expect(
      find(all, 'sql_queue.jobs', { 'messaging.destination.name': 'later', 'sql_queue.job.state': 'scheduled' }),
    ).toMatchObject([{ value: 1 }]);
    expect(find(all, 'sql_queue.oldest_waiting', one)[0]!.value).toBeGreaterThanOrEqual(0);
    expect(find(all, 'sql_queue.slots', one)[0]!.value).toBeGreaterThan(0);
    expect(find(all, 'sql_queue.slots.busy', one)).toMatchObject([{ value: 0 }]);
    expect(find(all, 'sql_queue.prefetched', one)).toMatchObject([{ value: 0 }]);
  });

  it('are left out with metrics: false', async () => {
    const { meterProvider, collect } = collectMetrics();
    const { producer, ended } = await startTraced({ meterProvider, metrics: false });

    await ended(await producer.enqueue('one', {}));

    expect(await collect()).toEqual([]);
    expect(spans('process one')).toHaveLength(1);
  });
});

describe('the options of OpenTelemetryInstrumentation', () => {
  it('are checked all at once', () => {
    const create = () =>
      new OpenTelemetryInstrumentation({ parents: 'x', parent: 'sibling', traces: 1, meterProvider: {} } as never);

    expect(create).toThrow('unknown option "parents", did you mean "parent"?');
    expect(create).toThrow(`expected parent to be 'link', 'child' or a function, got "sibling"`);
    expect(create).toThrow('expected traces to be true or false, got 1');
    expect(create).toThrow('expected meterProvider to be an object with getMeter()');
  });

  it('default to the global providers', async () => {
    expect(sdk.exporter).toBeInstanceOf(InMemorySpanExporter);
    const { producer, ended } = await startTraced();
    await ended(await producer.enqueue('one', {}));
    expect(only('send one').resource.attributes['telemetry.sdk.version']).toMatch(new RegExp(`^${OTEL_MAJOR}\\.`));
  });
});
