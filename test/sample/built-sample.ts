import { execFile } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installLibrary, sources } from '../support/built-library.js';
import { cached } from '../support/cached.js';

const root = resolve(import.meta.dirname, '../..');
const sample = join(root, 'sample');
const run = promisify(execFile);

/**
 * Compiles the samples as `npm start` does, with the library as it is published, in a folder without other builds. All test
 * files share it. Returns the path of `main.js` of one sample.
 */
export async function buildSample(name: string): Promise<string> {
  const folder = await cached('samples', await texts(), build);
  return join(folder, 'build', name, 'main.js');
}

async function texts(): Promise<Map<string, string>> {
  const names = (await readdir(sample, { recursive: true })).filter((file) => /\.(ts|json)$/.test(file)).sort();
  const own = await Promise.all(
    names.map(async (file) => [`sample/${file}`, await readFile(join(sample, file), 'utf8')] as const),
  );
  return new Map([...(await sources()), ...own]);
}

async function build(folder: string): Promise<void> {
  const output = join(folder, 'build');
  const library = join(output, 'node_modules/nestjs-sql-queue');
  // The files that a sample reads besides its own, and all packages but the library.
  for (const name of ['sample', 'node_modules']) await symlink(join(root, name), join(folder, name), 'dir');
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig(output, library)));

  await installLibrary(library);
  await node('node_modules/typescript/bin/tsc', '-p', folder);
}

function tsconfig(output: string, library: string) {
  return {
    extends: join(sample, 'tsconfig.build.json'),
    compilerOptions: {
      rootDir: sample,
      outDir: output,
      paths: {
        'nestjs-sql-queue': [join(library, 'dist/index.d.ts')],
        'nestjs-sql-queue/*': [join(library, 'dist/*.d.ts')],
      },
    },
    include: [sample],
  };
}

async function node(...args: string[]): Promise<void> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  await run(process.execPath, args, { cwd: root, env }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${args.join(' ')}\n${error.stdout}${error.stderr}`);
  });
}
