// npm run check:package: checks that the packed package works for every way of importing it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fail } from './build.mjs';
import { pack } from './pack.mjs';

const bin = resolve(import.meta.dirname, '../node_modules/.bin');
const folder = await mkdtemp(join(tmpdir(), 'nestjs-sql-queue-pack-'));
try {
  const tarball = await pack(folder);
  await check('publint', ['run', tarball, '--strict']);
  await check('attw', [tarball]);
} catch (error) {
  fail(error);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function check(name, args) {
  const [code] = await once(spawn(join(bin, name), args, { stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`${name} found problems`);
}
