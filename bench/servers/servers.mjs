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

// A server that was written to works on for a while. Below this share of a core it is taken to be at rest.
const AT_REST = 0.05;
const LOOK_MS = 400;
// In a row: a server that writes its pages out in the background begins a second later, and hardly uses a core.
const LOOKS_AT_REST = 4;
const PATIENCE_MS = 15_000;
const STOP_MS = 5_000;

export const serverKinds = Object.fromEntries(
  [mysql, mariadb, postgres, ...Object.values(redis), sqlite].map((kind) => [kind.id, kind]),
);

/** The servers of one run: started when first asked for, and stopped by the run. */
export class Servers {
  #run;
  #started = new Map();
  #databases = 0;

  constructor(run) {
    this.#run = run;
  }

  /** @param instance a second server of the same kind has another name here */
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

  /** Waits until no server is busy with what came before. */
  async settle() {
    const servers = await this.all();
    const used = () => servers.reduce((sum, { pids }) => sum + pids.reduce((all, pid) => all + cpuSeconds(pid), 0), 0);
    const unwritten = () => Promise.all(servers.map((server) => server.unwrittenPages?.() ?? 0));
    let atRest = 0;
    for (let waited = 0; waited < PATIENCE_MS && atRest < LOOKS_AT_REST; waited += LOOK_MS) {
      const [cpu, pages] = [used(), await unwritten()];
      await sleep(LOOK_MS);
      const isQuiet = used() - cpu < (AT_REST * LOOK_MS) / 1_000;
      const isWritten = (await unwritten()).every((left, index) => left === 0 || left === pages[index]);
      atRest = isQuiet && isWritten ? atRest + 1 : 0;
    }
  }

  async close() {
    for (const { close } of await this.all()) await close();
    await this.stop();
  }

  /** Only those that must not be killed: the run ends the others, and removes all files. */
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

/** In order, where a server that is killed would leave something behind. */
async function stop(pid, signal) {
  try {
    process.kill(pid, signal);
    for (let waited = 0; waited < STOP_MS; waited += 20) {
      await sleep(20);
      process.kill(pid, 0);
    }
  } catch {
    // It is gone.
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
