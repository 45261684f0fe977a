import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { sleep } from '../core/clock.mjs';
import { cpuSeconds } from '../core/cpu-meter.mjs';
import { mariadb, mysql } from './mysql.mjs';
import { postgres } from './postgres.mjs';
import { redis } from './redis.mjs';
import { sqlite } from './sqlite.mjs';

const SCRIPTS = resolve(import.meta.dirname, '../../scripts/databases');

// A server works in the background after writes. Below this share of a core it counts as at rest.
const AT_REST_CPU_SHARE = 0.05;
const AT_REST_POLL_INTERVAL_MS = 400;
// Consecutive polls: a server starts to write its pages a second later and hardly uses a core for it.
const AT_REST_POLLS = 4;
const AT_REST_TIMEOUT_MS = 15_000;
const STOP_TIMEOUT_MS = 5_000;

export const serverKinds = Object.fromEntries(
  [mysql, mariadb, postgres, ...Object.values(redis), sqlite].map((kind) => [kind.id, kind]),
);

/** The servers of one run: started on first use, and stopped by the run. */
export class Servers {
  #run;
  #started = new Map();
  #databases = 0;

  constructor(run) {
    this.#run = run;
  }

  /** @param instance distinguishes several servers of one kind */
  get(kind, instance = '') {
    const key = `${kind}${instance}`;
    if (!this.#started.has(key)) this.#started.set(key, this.#start(serverKinds[kind], key));
    return this.#started.get(key);
  }

  async all() {
    const started = await Promise.allSettled(this.#started.values());
    return started.flatMap(({ value }) => value ?? []);
  }

  /** A new and empty database on the server. */
  async fresh(server) {
    const name = `bench_${++this.#databases}`;
    return { name, server, url: await server.create(name), drop: () => server.drop(name) };
  }

  /** Waits until no server works on earlier writes, 15 s at most. */
  async untilAtRest() {
    const servers = await this.all();
    const used = () => servers.reduce((sum, { pids }) => sum + pids.reduce((all, pid) => all + cpuSeconds(pid), 0), 0);
    const unwritten = () => Promise.all(servers.map((server) => server.unwrittenPages?.() ?? 0));
    let atRest = 0;
    for (let waited = 0; waited < AT_REST_TIMEOUT_MS && atRest < AT_REST_POLLS; waited += AT_REST_POLL_INTERVAL_MS) {
      const [cpu, pages] = [used(), await unwritten()];
      await sleep(AT_REST_POLL_INTERVAL_MS);
      const isQuiet = used() - cpu < (AT_REST_CPU_SHARE * AT_REST_POLL_INTERVAL_MS) / 1_000;
      const isWritten = (await unwritten()).every((count, index) => count === 0 || count === pages[index]);
      atRest = isQuiet && isWritten ? atRest + 1 : 0;
    }
  }

  async close() {
    for (const { close } of await this.all()) await close();
    await this.stop();
  }

  /** Stops only the servers that must not be killed: the run kills the others and removes all files. */
  async stop() {
    for (const { kind, pids } of await this.all()) {
      if (kind.stopSignal) await stop(pids[0], kind.stopSignal);
    }
  }

  async #start(kind, key) {
    if (!kind.script) return { kind, pids: [], ...(await kind.open(this.#run.file(key))) };
    const port = await freePort();
    const dir = this.#run.file(`${key}-${port}`);
    await mkdir(dir);
    const child = this.#run.spawn('bash', [join(SCRIPTS, kind.script), dir, String(port), kind.profile], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let last = '';
    createInterface({ input: child.stderr }).on('line', (line) => {
      last = line;
      if (/fetching|unpack/.test(line)) console.error(`${key}: ${line}`);
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`no ${kind.title}: ${last || `${kind.script} ended with ${code}`}`);
    const pid = Number((await readFile(join(dir, 'server.pid'), 'utf8')).split(' ')[0]);
    return { kind, pids: [pid], ...(await kind.open(port)) };
  }
}

/** Sends a signal and waits until the process has ended, 5 s at most. */
async function stop(pid, signal) {
  try {
    process.kill(pid, signal);
    for (let waited = 0; waited < STOP_TIMEOUT_MS; waited += 20) {
      await sleep(20);
      process.kill(pid, 0);
    }
  } catch {
    // The process has ended.
  }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
