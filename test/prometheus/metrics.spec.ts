import { Registry } from 'prom-client';
import { OTHER, SeriesLimit } from '../../lib/extras/prometheus/series-limit.js';
import { ProcessMetrics } from '../../lib/extras/prometheus/process-metrics.js';
import { registerEngineMetrics, registerQueueMetrics } from '../../lib/extras/prometheus/register-queue-metrics.js';
import { METRICS_OPTIONS, type QueueMetricsOptions } from '../../lib/extras/prometheus/metrics-options.js';
import { resolveOptions } from '../../lib/job/option-schema.js';
import type { QueueStats } from '../../lib/store/features/stats/stats-store.js';
import { describeEngines, gate, plainJobs } from '../support/engines.js';
import type { Engine } from '../support/engine.js';

const LEASE_MS = 30_000;

function measure({ opened }: Engine, options: QueueMetricsOptions = {}): Registry {
  const registry = new Registry();
  registerEngineMetrics(registry, opened, options);
  return registry;
}

function statsOf(queue: string): QueueStats {
  const none = { value: 0, atLeast: false };
  return {
    ...{ queue, paused: false, settings: {}, waiting: none, scheduled: none, blocked: none, staged: none, dead: none },
    ...{ active: 0, prefetched: 0, oldestWaitingMs: null, nextDueInMs: null, workers: 1 },
    ...{ sampledAt: new Date(), ageMs: 0 },
  };
}

/** The value of a series by its name and labels, as in `name{a="b"}`. Undefined: there is none. */
async function valueOf(registry: Registry, series: string): Promise<number | undefined> {
  const text = await registry.metrics();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describeEngines('metrics', (setup) => {
  it('of a process equal the attempts that ran in it, and the jobs that it enqueued', async () => {
    const world = await setup();
    const fails = () => Promise.reject(new Error('no route'));
    const engine = await world.start({
      handlers: { ok: () => 'done', fails },
      queues: { fails: { retry: { attempts: 2 } } },
    });
    const registry = measure(engine);

    await engine.producer.enqueueMany('ok', plainJobs(3));
    await engine.producer.enqueue('fails', 0);
    await engine.runner.whenIdle();

    const read = (series: string) => valueOf(registry, series);
    expect(await read('sql_queue_enqueued_total{queue="ok"}')).toBe(3);
    expect(await read('sql_queue_job_runs_total{queue="ok",outcome="completed"}')).toBe(3);
    expect(await read('sql_queue_job_runs_total{queue="fails",outcome="failed"}')).toBe(1);
    expect(await read('sql_queue_job_runs_total{queue="fails",outcome="dead"}')).toBe(1);
    expect(await read('sql_queue_job_run_seconds_count{queue="ok"}')).toBe(3);
    expect(await read('sql_queue_job_run_seconds_bucket{queue="ok",le="+Inf"}')).toBe(3);
    expect(await read('sql_queue_job_wait_seconds_count{queue="fails"}')).toBe(2);
    expect(await read('sql_queue_leases_lost_total{queue="ok"}')).toBe(0);
  });

  it('of two processes add up, and both have the same gauges of all processes', async () => {
    const world = await setup();
    const producer = await world.start({ autoStart: false });
    const worker = await world.start({ handlers: { q: () => 'done' } });
    const registries = [measure(producer), measure(worker)];

    await producer.producer.enqueueMany('q', plainJobs(4));
    await producer.producer.enqueueMany('waits', plainJobs(2));
    await producer.producer.enqueue('waits', 0, { delay: '1h' });
    await worker.runner.whenIdle();

    const [enqueued, ran] = [
      await valueOf(registries[0]!, 'sql_queue_enqueued_total{queue="q"}'),
      await valueOf(registries[1]!, 'sql_queue_job_runs_total{queue="q",outcome="completed"}'),
    ];
    expect([enqueued, ran]).toEqual([4, 4]);
    const counts = await producer.admin.counts('waits');
    for (const registry of registries) {
      const read = (name: string) => valueOf(registry, `sql_queue_${name}{queue="waits"}`);
      expect(await read('jobs_waiting')).toBe(counts.waiting);
      expect(await read('jobs_scheduled')).toBe(counts.scheduled);
      expect(await read('jobs_active')).toBe(counts.active);
      expect(await read('jobs_dead')).toBe(counts.dead);
      expect(await read('paused')).toBe(0);
      expect(await valueOf(registry, 'sql_queue_stats_up')).toBe(1);
    }
  });

  it('say which queues are paused or disabled, and which run jobs at this time', async () => {
    const world = await setup();
    const { admin, opened } = await world.start({ autoStart: false });
    const hour = (at: number) => `${String(new Date(at).getUTCHours()).padStart(2, '0')}:00`;
    const [now, hourMs] = [await world.now(), 3_600_000];
    await admin.pause('paused', { create: true });
    await admin.configure('disabled', { enabled: false }, { create: true });
    await admin.configure('later', { enabled: { from: hour(now + 2 * hourMs), to: hour(now) } }, { create: true });
    await admin.configure('open', { enabled: { from: hour(now), to: hour(now + 2 * hourMs) } }, { create: true });
    const registry = new Registry();
    registerEngineMetrics(registry, opened, {});

    const text = await registry.metrics();

    const values = (name: string) =>
      [...text.matchAll(new RegExp(`^sql_queue_${name}{queue="(\\w+)"} (\\d)$`, 'gm'))].map(([, queue, value]) => [
        queue,
        Number(value),
      ]);
    expect(values('paused')).toEqual([
      ['disabled', 1],
      ['later', 0],
      ['open', 0],
      ['paused', 1],
    ]);
    expect(values('enabled')).toEqual([
      ['disabled', 0],
      ['later', 0],
      ['open', 1],
      ['paused', 1],
    ]);
  });

  it('have slots of running calls, and count a lost lease and a rescue in the processes that met them', async () => {
    const world = await setup();
    const { opened, open } = gate();
    const { opened: started, open: start } = gate();
    const hangs = async () => {
      start();
      await opened;
    };
    const settings = { queues: { q: { lease: LEASE_MS, concurrency: 2 } } };
    const first = await world.start({ ...settings, handlers: { q: hangs } });
    const registry = measure(first);
    await first.producer.enqueue('q', 0);
    await started;
    const slots = [
      await valueOf(registry, 'sql_queue_slots{queue="q"}'),
      await valueOf(registry, 'sql_queue_slots_busy{queue="q"}'),
    ];
    const second = await world.start({ ...settings, autoStart: false, handlers: { q: () => 'done' } });
    const rescuer = measure(second);

    world.advance(LEASE_MS + 1);
    await second.runner.start();
    const rescued = await Promise.race([second.events.until('rescued'), first.events.until('rescued')]);
    open();
    await first.events.until('lost');

    const rescues = [registry, rescuer].map((each) => valueOf(each, 'sql_queue_rescues_total{queue="q"}'));
    expect(slots).toEqual([2, 1]);
    expect(rescued).toBeDefined();
    expect((await Promise.all(rescues)).reduce<number>((sum, count) => sum + (count ?? 0), 0)).toBe(1);
    expect(await valueOf(registry, 'sql_queue_leases_lost_total{queue="q"}')).toBe(1);
  });

  it('of the process stay while the database cannot be read, and one gauge says so', async () => {
    const world = await setup();
    const engine = await world.start({ handlers: { q: () => 'done' } });
    const registry = measure(engine);
    await engine.producer.enqueue('q', 0);
    await engine.runner.whenIdle();

    await engine.close();

    expect(await valueOf(registry, 'sql_queue_job_runs_total{queue="q",outcome="completed"}')).toBe(1);
    expect(await valueOf(registry, 'sql_queue_stats_up')).toBe(0);
    expect(await registry.metrics()).not.toMatch(/^sql_queue_jobs_waiting\{/m);
  });

  it('have names, gauges of all processes and queues as the options say', async () => {
    const world = await setup();
    const engine = await world.start({ handlers: { 'a.x': () => 'done', b: () => 'done' } });
    const registry = measure(engine, { names: true, cluster: false, queues: ['a.*'] });

    await engine.producer.enqueue('a.x', 0, { name: 'default' });
    await engine.producer.enqueue('b', 0);
    await engine.runner.whenIdle();

    const text = await registry.metrics();
    expect(text).toContain('sql_queue_job_runs_total{queue="a.x",name="default",outcome="completed"} 1');
    expect(text).not.toContain('queue="b"');
    expect(text).not.toContain('sql_queue_jobs_waiting');
    expect(text).not.toContain('sql_queue_stats_up');
  });
});

describe('metrics', () => {
  it('put label values beyond the first thousand together', () => {
    const limit = new SeriesLimit();

    const labels = Array.from({ length: 1_002 }, (_, index) => limit.labelOf(`session.${index}`));

    expect(labels.slice(999)).toEqual(['session.999', OTHER, OTHER]);
    expect(limit.labelOf('session.7')).toBe('session.7');
  });

  it('add up the slots of queues beyond the first thousand', async () => {
    const names = Array.from({ length: 1_002 }, (_, index) => `session.${index}`);
    const occupancy = () => names.map((queue, index) => ({ queue, slots: index, busy: 1, prefetched: 0 }));
    const registry = new Registry();
    const { all } = new ProcessMetrics(resolveOptions(METRICS_OPTIONS, {}), { queues: names, occupancy });
    for (const metric of all) metric.register(registry);

    const text = await registry.metrics();

    expect(text.match(/^sql_queue_slots\{queue="\(other\)"\} .*$/gm)).toEqual([
      'sql_queue_slots{queue="(other)"} 2001',
    ]);
    expect(text).toContain('sql_queue_slots_busy{queue="(other)"} 2\n');
    expect(text).toContain('sql_queue_slots{queue="session.999"} 999\n');
  });

  it('of all processes show a thousand queues that exist, and keep those that they have shown', async () => {
    let queues: string[] = [];
    const registry = new Registry();
    registerQueueMetrics(registry, { stats: () => Promise.resolve(queues.map(statsOf)) });
    const shown = async (names: string[]) => {
      queues = names;
      const text = await registry.metrics();
      return [...text.matchAll(/^sql_queue_workers\{queue="(.+)"\}/gm)].map(([, queue]) => queue);
    };
    const sessions = Array.from({ length: 1_000 }, (_, index) => `session.${index}`);

    const first = await shown(['mail', ...sessions.slice(1)]);
    const crowded = await shown([...sessions, 'mail']);
    const later = await shown(['mail', 'new']);

    expect(first).toHaveLength(1_000);
    expect(crowded).toHaveLength(1_000);
    expect(crowded).toContain('mail');
    expect(later).toEqual(['mail', 'new']);
  });

  it('reject a registry that has them, and invalid options, all at once', () => {
    const registry = new Registry();
    const admin = { stats: () => Promise.resolve([]) };
    const remove = registerQueueMetrics(registry, admin);

    expect(() => registerQueueMetrics(registry, admin)).toThrow('expected a registry without sql_queue_jobs_waiting');
    expect(() => registerQueueMetrics(new Registry(), admin, { timeout: 0, queues: 'a' } as never)).toThrow(
      /queues[\s\S]*timeout|timeout[\s\S]*queues/,
    );
    remove();
    expect(() => registerQueueMetrics(registry, admin)).not.toThrow();
  });
});
