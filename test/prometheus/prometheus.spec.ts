import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { registerEngineMetrics } from '../../lib/extras/prometheus/register-queue-metrics.js';
import { describeEngines, plainJobs, type World } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';

const FIND = '../../scripts/monitoring/prometheus.mjs';
const prom = resolve(import.meta.dirname, '../../prom');
const run = promisify(execFile);

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

let programs: { prometheus: string; promtool: string };
beforeAll(async () => {
  const { findPrometheus } = (await import(FIND)) as { findPrometheus(): Promise<typeof programs> };
  programs = await findPrometheus();
});

describe('the alert rules', () => {
  it('are valid, and fire as their tests say', async () => {
    await run(programs.promtool, ['check', 'rules', join(prom, 'alerts.yml')]);
    const { stdout } = await run(programs.promtool, ['test', 'rules', join(prom, 'alerts.test.yml')]);

    expect(stdout).toContain('SUCCESS');
  });
});

describeEngines(
  'Prometheus',
  (setup) => {
    /** Runs jobs until the test ends, and serves their metrics. */
    async function measuredWorker(world: World): Promise<{ registry: Registry; port: number }> {
      const fails = () => Promise.reject(new Error('no route'));
      const engine = await world.start({
        handlers: { q: () => 'done', fails },
        queues: { fails: { retry: { attempts: 1 } } },
      });
      const registry = new Registry();
      registerEngineMetrics(registry, engine.opened, {});
      const serve = async () => {
        await engine.producer.enqueueMany('q', plainJobs(5));
        await engine.producer.enqueue('fails', 0);
        await engine.runner.whenIdle();
        return registry.metrics();
      };
      const retried = new Promise<void>((resolve) =>
        engine.opened.instrumentations.add({ databaseRetried: () => resolve() }),
      );
      await whileLocked(world, () => engine.producer.enqueue('q', 0), retried);
      const server = createServer((_, response) => void serve().then((text) => response.end(text)));
      return { registry, port: await listen(server, world) };
    }

    it('gets data from a worker for each expression of the dashboard and each metric of the alerts', async () => {
      const world = await setup();
      const { registry, port } = await measuredWorker(world);
      const query = await startPrometheus(world, port);
      const dashboard = JSON.parse(await readFile(join(prom, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
      const rules = await readFile(join(prom, 'alerts.yml'), 'utf8');
      const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
      const alerted = rules.match(/sql_queue_\w+(\{[^}]*\})?(\[\w+\])?/g)!.filter((one) => !one.includes('increase'));
      const expressions = [
        ...shown.map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$queue', '.*')),
        ...alerted.map((selector) => selector.replace(/\[.*$/, '')),
      ];

      const empty = new Set(expressions);
      await eventually(async () => {
        for (const expr of empty) if ((await query(expr)).length > 0) empty.delete(expr);
        return empty.size === 0;
      });

      expect(dashboard.panels.length).toBeGreaterThanOrEqual(8);
      expect(expressions.length).toBeGreaterThan(20);
      const completed = await query('max(sql_queue_job_runs_total{queue="q",outcome="completed"})');
      expect(Number(completed[0]!.value[1])).toBeGreaterThan(0);
      await checkMetrics(await registry.metrics());
    });
  },
  ['sqlite'],
);

async function checkMetrics(text: string): Promise<void> {
  const checking = spawn(programs.promtool, ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [checking.stdout, checking.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  checking.stdin.end(text);
  const [code] = (await once(checking, 'close')) as [number];
  expect({ code, output }).toEqual({ code: 0, output: '' });
}

/** The library repeats the call while another connection has locked the database. */
async function whileLocked({ dataSource }: World, call: () => Promise<unknown>, retried: Promise<void>): Promise<void> {
  const other = await new DataSource(dataSource.options).initialize();
  await other.query('BEGIN IMMEDIATE');
  const called = call();
  await retried;
  await other.query('COMMIT');
  await other.destroy();
  await called;
}

async function listen(server: Server, world: World): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  world.afterTest(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a Prometheus that scrapes the port each second. Returns a function that sends it a query. */
async function startPrometheus(world: World, port: number) {
  const folder = await mkdtemp(join(tmpdir(), 'sql-queue-prometheus-'));
  world.afterTest(() => rm(folder, { recursive: true, force: true }));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(prom, 'alerts.yml')],
    scrape_configs: [{ job_name: 'queue', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
  };
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ];
  const running = spawn(programs.prometheus, args, { stdio: 'ignore' });
  const ended = once(running, 'exit');
  world.afterTest(async () => {
    running.kill('SIGKILL');
    await ended;
  });
  await eventually(() => {
    // It ends at once if it cannot listen.
    if (running.exitCode !== null) throw new Error(`Prometheus ended with ${running.exitCode}`);
    return fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return async (expr: string) => {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expr)}`);
    const { data, error } = (await response.json()) as {
      data?: { result: { value: [number, string] }[] };
      error?: string;
    };
    if (!data) throw new Error(`${expr}: ${error}`);
    return data.result;
  };
}
