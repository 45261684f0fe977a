import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const bench = resolve(import.meta.dirname, '..');
const root = resolve(bench, '..');

/** Builds and packs the library, and installs the package as a user would. Tells what it was made of. */
export async function installLibrary(folder = root) {
  const source = resolve(folder);
  const packer = join(source, 'scripts/pack.mjs');
  const scratch = await mkdtemp(join(tmpdir(), 'nestjs-sql-queue-bench-'));
  try {
    const { pack } = await import(pathToFileURL(packer));
    const tarball = await pack(scratch);
    await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', tarball], { cwd: bench });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  return { version, commit: await commitOf(source) };
}

async function commitOf(source) {
  try {
    const { stdout: commit } = await run('git', ['-C', source, 'rev-parse', '--short', 'HEAD']);
    const { stdout: changes } = await run('git', ['-C', source, 'status', '--porcelain', 'lib', 'package.json']);
    return commit.trim() + (changes ? ' and changes' : '');
  } catch {
    return 'unknown';
  }
}

/**
 * Builds the SQLite driver for the Node that runs here, where it is not there yet. Its own install script would fetch or
 * build it for whichever Node runs npm.
 */
export async function prepareSqlite() {
  if (await sqliteLoads()) return;
  const home = resolve(process.execPath, '../..');
  console.error('building better-sqlite3 …');
  const gyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
  await run(process.execPath, [gyp, 'rebuild', '--release'], {
    cwd: join(bench, 'node_modules/better-sqlite3'),
    // In the environment, where npm may have put another Node's.
    env: { ...process.env, npm_config_nodedir: home },
    maxBuffer: 2 ** 26,
  }).catch((error) => console.error(`better-sqlite3 cannot be built, SQLite will fail: ${lastLine(error.stderr)}`));
}

function lastLine(text = '') {
  return text.trim().split('\n').at(-1);
}

/** In a process of its own: what did not load once does not load again. */
async function sqliteLoads() {
  const program = `new (require('better-sqlite3'))(':memory:').close()`;
  return run(process.execPath, ['-e', program], { cwd: bench }).then(
    () => true,
    () => false,
  );
}

/** The versions of packages as they are installed. */
export async function versionsOf(names) {
  const entries = names.map(async (name) => {
    const text = await readFile(join(bench, 'node_modules', name, 'package.json'), 'utf8');
    return [name, JSON.parse(text).version];
  });
  return Object.fromEntries(await Promise.all(entries));
}
