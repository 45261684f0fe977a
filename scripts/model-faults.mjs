// npm run test:model-faults [-- 'part of a name']
//
// Proves that random histories find faults: takes one fix at a time out of a copy of the library, as
// test/model/faults.json says, and lets the model look for two minutes. Prints the shortest history of each fault. Exits with 1 if one is missed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { ServerRun, serverKinds } from './databases/servers.mjs';
import { onStopSignal } from './stop-signal.mjs';

const root = resolve(import.meta.dirname, '..');
const COPIED = ['lib', 'test', 'scripts', 'package.json', 'vitest.config.js', 'tsconfig.json', 'tsconfig.base.json'];
const SECONDS = 120;

const faults = JSON.parse(await readFile(join(root, 'test/model/faults.json'), 'utf8'));
const chosen = faults.filter(({ fault }) => fault.includes(process.argv[2] ?? ''));
if (chosen.length === 0) throw new Error(`expected a part of a name in test/model/faults.json, got ${process.argv[2]}`);
const run = await ServerRun.begin();
onStopSignal(async (_signal, exitCode) => {
  await run.end();
  process.exit(exitCode);
});
try {
  const urls = await startServers();
  let missed = 0;
  for (const fault of chosen) if (!(await isFound(fault, urls))) missed++;
  console.log(`${chosen.length - missed} of ${chosen.length} faults found`);
  process.exitCode = missed === 0 ? 0 : 1;
} finally {
  await run.end();
}

/** The variables that name the servers. */
async function startServers() {
  const urls = {};
  for (const kind of new Set(chosen.map(({ server }) => server).filter((server) => server in serverKinds))) {
    const { url, reason } = await run.server(kind);
    if (!url) throw new Error(`${kind}: ${reason}`);
    urls[serverKinds[kind].variable] = url;
  }
  return urls;
}

async function isFound({ fault, server, features, seed, changes }, urls) {
  const copy = await copyWith(changes);
  const startedAt = performance.now();
  const output = await findIn(copy, server, {
    ...urls,
    ...{ SQL_QUEUE_MODEL_FEATURES: features, SQL_QUEUE_MODEL_SEED: String(seed) },
    ...{ SQL_QUEUE_MODEL_RUNS: '100000', SQL_QUEUE_MODEL_SECONDS: String(SECONDS) },
  });
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  await rm(copy, { recursive: true });
  const [, runs, path] = /Property failed after (\d+) tests\s+\{ seed: -?\d+, path: "([\d:]+)"/.exec(output) ?? [];
  const [, history] = /"commands":(.*\*\/)\}\]/.exec(output) ?? [];
  const [, problem] = /Caused by: Error: (.*)/.exec(output) ?? [];
  console.log(`${runs ? 'found' : 'NOT FOUND'} in ${seconds} s: ${fault} (${server}, ${features}, seed ${seed})`);
  if (!runs && !output.includes(' passed')) console.log(output);
  if (runs) console.log(`  history ${runs}, path ${path}\n  ${problem}\n  ${history}`);
  return runs !== undefined;
}

/** A copy of the tree without the fix. */
async function copyWith(changes) {
  const copy = await mkdtemp(join(tmpdir(), 'sql-queue-model-'));
  const filter = (path) => basename(path) !== 'node_modules';
  for (const name of COPIED) await cp(join(root, name), join(copy, name), { recursive: true, filter });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, text, replacement] of changes) {
    const source = await readFile(join(root, file), 'utf8');
    if (!source.includes(text)) throw new Error(`${file}: expected to find ${text}`);
    const changed = await readFile(join(copy, file), 'utf8');
    await writeFile(
      join(copy, file),
      changed.replaceAll(text, () => replacement),
    );
  }
  return copy;
}

async function findIn(copy, server, env) {
  const args = [join(copy, 'scripts/test.mjs'), '--server', server, 'test/model/histories.spec.ts', '--no-color'];
  const child = spawn(process.execPath, args, { cwd: copy, env: { ...process.env, ...env }, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  await once(child, 'close');
  return output;
}
