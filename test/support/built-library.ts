import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cached } from './cached.js';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

// The inputs of the build. The lock file determines the compiler.
const SETTINGS = [
  'package.json',
  'package-lock.json',
  'scripts/build.mjs',
  ...(await readdir(join(root, 'scripts/bundle'))).map((name) => `scripts/bundle/${name}`),
  'tsconfig.base.json',
  'tsconfig.build.json',
];

// The page that the tests of the board serve.
const BUILT = /extras\/board\/page\/board\./;

/** Installs the published form of the library into the folder. All test files share one build. */
export async function installLibrary(folder: string): Promise<void> {
  const built = await cached('build', await sources(), async (dist) => {
    await run(process.execPath, ['scripts/build.mjs', dist], { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } });
  });
  await mkdir(folder, { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await cp(built, join(folder, 'dist'), { recursive: true });
}

/** The texts from which the library is built, by path. */
export async function sources(): Promise<Map<string, string>> {
  const names = await readdir(join(root, 'lib'), { recursive: true });
  const files = [
    ...SETTINGS,
    ...names.filter((name) => /\.(tsx?|css|html|json)$/.test(name) && !BUILT.test(name)).map((name) => `lib/${name}`),
  ].sort();
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  return new Map(files.map((file, index) => [file, texts[index]!]));
}
