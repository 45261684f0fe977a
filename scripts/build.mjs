// npm run build: builds lib as ES modules and as CommonJS. `node scripts/build.mjs DIR` builds into DIR instead of
// dist.
import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

export async function build(dist = join(root, 'dist')) {
  await rm(dist, { recursive: true, force: true });
  await Promise.all([
    tsc('-p', 'tsconfig.build.json', '--outDir', join(dist, 'esm')),
    tsc('-p', 'tsconfig.build.cjs.json', '--outDir', join(dist, 'cjs')),
  ]);
  for (const name of ['common/require-here.js', 'worker/heartbeat/heartbeat-program-url.js', 'board/page-folder.js']) {
    await replaceImportMeta(join(dist, 'cjs', name));
  }
  // Browsers load these files as they are.
  const isShipped = (file) => !file.endsWith('.json');
  for (const format of ['esm', 'cjs']) {
    await cp(join(root, 'lib/board/page'), join(dist, format, 'board/page'), { recursive: true, filter: isShipped });
  }
  const scope = { type: 'commonjs', sideEffects: false };
  await writeFile(join(dist, 'cjs', 'package.json'), JSON.stringify(scope, null, 2) + '\n');
}

// Some files need their own URL, which the two formats express differently.
async function replaceImportMeta(file) {
  const source = await readFile(file, 'utf8');
  const replaced = source.replace('import.meta.url', `require('node:url').pathToFileURL(__filename)`);
  if (replaced === source) throw new Error(`${file}: expected import.meta.url, found none`);
  await writeFile(file, replaced);
}

export async function tsc(...args) {
  const bin = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [bin, ...args], { cwd: root }).catch((error) => {
    throw new Error(`tsc ${args.join(' ')}\n${error.stdout}${error.stderr}`);
  });
}

/** Prints a script's error without the script's own stack. */
export function fail(error) {
  console.error(error.message ?? error);
  process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await build(process.argv[2] && resolve(process.argv[2])).catch(fail);
}
