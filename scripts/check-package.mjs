// npm run check:package: checks that the packed package is small, and works for every way of importing it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fail } from './build.mjs';
import { packWithReport } from './pack.mjs';

const MAX_FILES = 150;
const MAX_BYTES = 5_000_000;

const bin = resolve(import.meta.dirname, '../node_modules/.bin');
const folder = await mkdtemp(join(tmpdir(), 'nestjs-sql-queue-pack-'));
try {
  const { tarball, files, bytes } = await packWithReport(folder);
  console.log(`${files} files, ${(bytes / 1e6).toFixed(2)} MB`);
  if (files > MAX_FILES) throw new Error(`expected at most ${MAX_FILES} files in the package, got ${files}`);
  if (bytes > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes in the package, got ${bytes}`);
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
