import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const bench = resolve(import.meta.dirname, '..');
const root = resolve(bench, '..');

/** The package under which the base of a comparison is installed. */
export const BASE_PACKAGE = 'nestjs-sql-queue-base';

/**
 * Builds, packs and installs the library as a user would. Returns its version and commit.
 *
 * @param base a commit that is installed beside it
 */
export async function installLibrary(folder = root, base) {
  const source = resolve(folder);
  const scratch = await mkdtemp(join(tmpdir(), 'nestjs-sql-queue-bench-'));
  try {
    const tarballs = [await packOf(source, join(scratch, 'library'))];
    if (base) tarballs.push(`${BASE_PACKAGE}@file:${await packOfCommit(source, base, scratch)}`);
    // In one call: npm removes packages of an earlier one that it has not saved.
    await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', ...tarballs], { cwd: bench });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  return { version, commit: await commitOf(source) };
}

async function packOf(source, folder) {
  await mkdir(folder);
  const { pack } = await import(pathToFileURL(join(source, 'scripts/pack.mjs')));
  return pack(folder);
}

/** Another state of the library has other dependencies, so they are installed in a clone. */
async function packOfCommit(source, commit, scratch) {
  console.error(`packing ${commit} …`);
  const clone = join(scratch, 'clone');
  await run('git', ['clone', '--quiet', '--no-checkout', source, clone]);
  // Resolved here: a clone has no other branches, and no `HEAD~1` of this one.
  const { stdout: id } = await run('git', ['-C', source, 'rev-parse', '--verify', `${commit}^{commit}`]);
  await run('git', ['-C', clone, 'checkout', '--quiet', '--detach', id.trim()]);
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: clone, maxBuffer: 2 ** 26 });
  return packOf(clone, join(scratch, 'base'));
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
 * Builds the SQLite driver for the Node of this process, unless it loads already. The driver's install script would
 * fetch or build it for the Node that runs npm.
 */
export async function prepareSqlite() {
  if (await sqliteLoads()) return;
  const home = resolve(process.execPath, '../..');
  console.error('building better-sqlite3 …');
  const gyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js');
  await run(process.execPath, [gyp, 'rebuild', '--release'], {
    cwd: join(bench, 'node_modules/better-sqlite3'),
    // It replaces a nodedir that npm may have set for another Node.
    env: { ...process.env, npm_config_nodedir: home },
    maxBuffer: 2 ** 26,
  }).catch((error) => console.error(`better-sqlite3 did not build, so SQLite will fail: ${lastLine(error.stderr)}`));
}

function lastLine(text = '') {
  return text.trim().split('\n').at(-1);
}

/** Runs in a separate process, because a module that failed to load once does not load again. */
async function sqliteLoads() {
  const program = `new (require('better-sqlite3'))(':memory:').close()`;
  return run(process.execPath, ['-e', program], { cwd: bench }).then(
    () => true,
    () => false,
  );
}

/** The installed versions of packages. */
export async function versionsOf(names) {
  const entries = names.map(async (name) => {
    const text = await readFile(join(bench, 'node_modules', name, 'package.json'), 'utf8');
    return [name, JSON.parse(text).version];
  });
  return Object.fromEntries(await Promise.all(entries));
}
