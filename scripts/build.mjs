// npm run build: compiles lib, and joins the modules of each entry point. `node scripts/build.mjs DIR` builds into DIR
// instead of dist.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleCode, bundleTypes } from './bundle/bundle.mjs';
import { SCHEMATICS } from './bundle/entry-points.mjs';
import { bundlePage } from './bundle/page.mjs';

const root = resolve(import.meta.dirname, '..');
const lib = join(root, 'lib');
const run = promisify(execFile);

export async function build(dist = join(root, 'dist')) {
  const compiled = await mkdtemp(join(tmpdir(), 'nestjs-sql-queue-build-'));
  try {
    await rm(dist, { recursive: true, force: true });
    await Promise.all([
      compileCode(join(compiled, 'code'))
        .then(() => bundleCode(join(compiled, 'code'), lib))
        .then((files) => write(dist, files)),
      compileTypes(join(compiled, 'types'))
        .then(() => bundleTypes(join(compiled, 'types')))
        .then((files) => write(dist, files)),
      bundlePage().then((files) => write(join(dist, 'page'), files)),
      copySchemas(join(dist, 'schematics')),
    ]);
  } finally {
    await rm(compiled, { recursive: true, force: true });
  }
}

/** Writes one ES module for each file of lib, without comments. */
export function compileCode(folder) {
  return tsc('-p', 'tsconfig.build.json', '--outDir', folder, '--removeComments', '--sourceMap');
}

function compileTypes(folder) {
  return tsc('-p', 'tsconfig.build.json', '--outDir', folder, '--declaration', '--emitDeclarationOnly');
}

/** The lists of the schematics and of their options, which the Nest CLI reads. */
async function copySchemas(folder) {
  const isCopied = (file) => !file.endsWith('.ts');
  await cp(join(lib, dirname(SCHEMATICS.schematics)), folder, { recursive: true, filter: isCopied });
}

async function write(folder, files) {
  await mkdir(folder, { recursive: true });
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
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
