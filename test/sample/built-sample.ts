import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installLibrary } from '../support/built-library.js';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** A sample as `npm start` compiles it, with the library as it is published, in a folder without other builds. */
export interface BuiltSample {
  main: string;
  remove(): Promise<void>;
}

export async function buildSample(name: string): Promise<BuiltSample> {
  const folder = await mkdtemp(join(tmpdir(), 'sql-queue-sample-'));
  const output = join(folder, 'build');
  const library = join(output, 'node_modules/nestjs-sql-queue');
  // The files that a sample reads besides its own, and all packages but the library.
  for (const name of ['sample', 'node_modules']) await symlink(join(root, name), join(folder, name), 'dir');
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig(output, library)));

  await installLibrary(library);
  await node('node_modules/typescript/bin/tsc', '-p', folder);
  return {
    main: join(output, name, 'main.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function tsconfig(output: string, library: string) {
  const sample = join(root, 'sample');
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
