// npm start [-- [sample] arguments of the sample...]: builds the library and the samples and runs one, by default the
// first.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, fail, tsc } from './build.mjs';
import { provideSqliteDriver } from './sqlite-driver.mjs';
import { onStopSignal } from './stop-signal.mjs';

const root = resolve(import.meta.dirname, '..');
const output = join(root, 'build');

try {
  await provideSqliteDriver();
  await build();
  await rm(output, { recursive: true, force: true });
  await tsc('-p', 'sample/tsconfig.build.json');

  const [first, ...others] = process.argv.slice(2);
  const isSample = /^\d\d-[\w-]+$/.test(first ?? '') && existsSync(join(root, 'sample', first));
  const [sampleName, args] = isSample ? [first, others] : ['01-signups', process.argv.slice(2)];
  const main = join(output, sampleName, 'main.js');
  // A separate process group: the sample receives Ctrl-C once, from this script.
  const sample = spawn(process.execPath, ['--enable-source-maps', main, ...args], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  onStopSignal((signal) => sample.kill(signal));
  sample.on('exit', (code, signal) => {
    // An end by SIGINT or SIGTERM is a clean end.
    process.exit(code ?? (signal === 'SIGINT' || signal === 'SIGTERM' ? 0 : 1));
  });
} catch (error) {
  fail(error);
}
