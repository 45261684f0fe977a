// Database servers for a test run or a developer: those named in the environment, else those installed on this machine,
// else Debian's packages, unpacked in a cache.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';

const run = promisify(execFile);

export const serverKinds = {
  mysql: {
    title: 'MySQL',
    variable: 'MYSQL_URL',
    program: 'mysqld',
    script: 'mysql-up.sh',
    oldest: [8, 0, 13],
    isOurs: (version) => !/mariadb/i.test(version),
  },
  mariadb: {
    title: 'MariaDB',
    variable: 'MARIADB_URL',
    program: 'mariadbd',
    script: 'mariadb-up.sh',
    oldest: [10, 6],
    isOurs: (version) => /mariadb/i.test(version),
  },
};

/** Three nodes each. */
const clusterScripts = { galera: 'galera-up.sh', 'group-replication': 'group-replication-up.sh' };
export const clusterKinds = Object.keys(clusterScripts);

/** Starts the processes of one run. However the run ends, the keeper stops them and removes their files. */
export class ServerRun {
  #base;
  #keeper;
  #ended;

  static async begin() {
    const self = new ServerRun();
    // The path of a unix socket has at most 107 bytes.
    const parent = tmpdir().length > 60 ? '/tmp' : tmpdir();
    self.#base = await mkdtemp(join(parent, 'nestjs-sql-queue-'));
    self.#keeper = spawn('bash', [join(import.meta.dirname, 'keeper.sh'), self.#base], {
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    self.#keeper.stdin.on('error', () => {});
    return self;
  }

  file(name) {
    return join(this.#base, name);
  }

  /**
   * Starts a program in its own process group: Ctrl-C reaches only the run, and processes that the program leaves
   * behind are killed with the group.
   */
  spawn(command, args, options) {
    if (this.#ended) throw new Error('the run is over');
    const child = spawn(command, args, { ...options, detached: true });
    if (child.pid === undefined) return child;
    this.#keeper.stdin.write(`+ ${child.pid}\n`);
    child.once('exit', () => {
      killGroup(child.pid);
      if (!this.#ended) this.#keeper.stdin.write(`- ${child.pid}\n`);
    });
    return child;
  }

  /** `{ url, client? }` of a server that answers, or `{ reason }` if there is none. */
  async server(kind, profile = 'fast') {
    const { variable } = serverKinds[kind];
    const url = process.env[variable];
    if (url) return named(kind, url);

    const reasons = [];
    for (const program of [await installed(kind), undefined]) {
      if (program === undefined && reasons.length === 0 && process.platform !== 'linux') {
        return { reason: `set ${variable}, see compose.yaml` };
      }
      try {
        return await this.#start(kind, profile, program);
      } catch (error) {
        reasons.push(error.message);
      }
      if (program === undefined) break;
    }
    return { reason: reasons.at(-1) };
  }

  async #start(kind, profile, program) {
    const { script, program: name } = serverKinds[kind];
    const port = await freePort();
    const dir = this.file(`${kind}-${port}`);
    await mkdir(dir);
    const env = { ...process.env, [name.toUpperCase()]: program ?? '' };
    const client = await this.#script(kind, script, [dir, String(port), profile], env);
    return { url: `mysql://root@127.0.0.1:${port}/`, client: client.trim() || undefined };
  }

  /** The script's standard output. Its standard error goes to the terminal; if it fails, the last line is the error. */
  async #script(title, script, args, env) {
    const child = this.spawn('bash', [join(import.meta.dirname, script), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    });
    let printed = '';
    let last = '';
    child.stdout.on('data', (chunk) => (printed += chunk));
    createInterface({ input: child.stderr }).on('line', (line) => {
      last = line.replace(/^\[ *\d+ ms\] /, '');
      process.stderr.write(`${title}: ${line}\n`);
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(last || `${script} ended with ${code}`);
    return printed;
  }

  /** A cluster of this run: the port of its first node, its folder, and a function that starts missing nodes. */
  async cluster(kind, profile = 'durable') {
    const port = await freePorts();
    const dir = this.file(`${kind}-${port}`);
    const up = () => this.#script(kind, clusterScripts[kind], [dir, String(port), profile], process.env);
    await up();
    return { port, dir, up };
  }

  /** Resolves when all started processes have ended. */
  async end() {
    this.#ended ??= this.#keeper.exitCode === null ? once(this.#keeper, 'exit') : Promise.resolve();
    this.#keeper.stdin.end();
    await this.#ended;
  }
}

export function killGroup(pid, signal = 'SIGKILL') {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has no process left.
  }
}

async function named(kind, url) {
  const { title, variable, oldest, isOurs } = serverKinds[kind];
  try {
    const connection = await mysql.createConnection({ uri: url, connectTimeout: 10_000 });
    const [[{ version }]] = await connection.query('SELECT VERSION() AS version');
    await connection.end();
    if (!isOurs(version)) return { reason: `${variable} is ${version}, expected ${title}` };
    if (isOlder(version, oldest))
      return { reason: `${variable} is ${title} ${version}, expected ${oldest.join('.')} or newer` };
    return { url, client: await inPath(kind === 'mysql' ? ['mysql'] : ['mariadb', 'mysql']) };
  } catch (error) {
    return { reason: `${variable} does not answer: ${error.message || error.code}` };
  }
}

/** A server program of this machine, of the right kind and recent enough. */
async function installed(kind) {
  const { program, oldest, isOurs } = serverKinds[kind];
  const path = await inPath([program]);
  if (!path) return undefined;
  try {
    const { stdout } = await run(path, ['--version']);
    const version = stdout.slice(stdout.indexOf('Ver '));
    return isOurs(version) && !isOlder(version, oldest) ? path : undefined;
  } catch {
    return undefined;
  }
}

async function inPath(names) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

function isOlder(version, oldest) {
  const parts = (/(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? []).slice(1).map(Number);
  for (const [i, part] of oldest.entries()) {
    if (parts[i] !== part) return !(parts[i] > part);
  }
  return false;
}

// Below the kernel's ports for connections, one of which could take the server's port while it restarts.
const somePort = () => 10_000 + Math.floor(Math.random() * 20_000);

export async function freePort() {
  for (;;) {
    const port = somePort();
    if (await isFree(port)) return port;
  }
}

async function isFree(port) {
  const probe = createServer().listen(port, '127.0.0.1');
  const listening = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  if (listening) await once(probe.close(), 'close');
  return listening;
}

/** The first port of a cluster, whose three nodes have four ports each, twenty apart. */
async function freePorts() {
  for (;;) {
    const first = somePort();
    const all = [0, 20, 40, 60].flatMap((purpose) => [0, 1, 2].map((node) => first + purpose + node));
    if ((await Promise.all(all.map(isFree))).every(Boolean)) return first;
  }
}
