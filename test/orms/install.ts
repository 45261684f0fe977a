import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deleteStale } from '../support/cached.js';
import { installPackages } from '../support/install-packages.js';

const run = promisify(execFile);
const folder = import.meta.dirname;

const SCHEMA = (provider: string, output: string) => `
  generator client {
    provider = "prisma-client"
    output = "${output}"
  }
  datasource db {
    provider = "${provider}"
  }
  model User {
    email String @id
    @@map("user")
  }`;

export const installOrms = () => installPackages(folder, [], deleteDrivers);

/** The driver of the repository fits the running Node, and takes the place of all copies. */
async function deleteDrivers(): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as { packages: object };
  const copies = Object.keys(packages).filter((path) => path.endsWith('node_modules/better-sqlite3'));
  for (const copy of copies) await rm(join(folder, copy), { recursive: true, force: true });
}

/** A project with the examples of a page, and its folder. */
export interface Examples {
  readonly project: string;
  readonly names: string[];
}

/**
 * Writes the examples of the page, each under the name in its first line, and the clients of Prisma into a project of its
 * own, beside a copy of the setups. It is below the installed packages, and runs in one working tree do not share it.
 */
export async function writeExamples(page: string): Promise<Examples> {
  await mkdir(join(folder, 'build'), { recursive: true });
  await deleteStale(join(folder, 'build'));
  const project = await mkdtemp(join(folder, 'build/run-'));
  const build = join(project, 'build');
  await mkdir(build);
  await cp(join(folder, 'setups'), join(project, 'setups'), { recursive: true });
  const config = { extends: '../../tsconfig.json', include: ['build', 'setups'] };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
  const text = await readFile(page, 'utf8');
  const examples = [...text.matchAll(/^```ts\n\/\/ ([\w-]+)\.ts\n([\s\S]*?)^```$/gm)];
  for (const [, name, code] of examples) await writeFile(join(build, `${name}.ts`), code!);
  await Promise.all([generate(build, 'mysql', 'generated'), generate(build, 'sqlite', 'generated-sqlite')]);
  return { project, names: examples.map(([, name]) => name!) };
}

async function generate(build: string, provider: string, output: string): Promise<void> {
  const schema = join(build, `${output}.prisma`);
  await writeFile(schema, SCHEMA(provider, `./${output}`));
  const cli = join(folder, 'node_modules/prisma/build/index.js');
  // The command downloads the engine of migrations unless it is told of a file. It does not start it.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  await run(process.execPath, [cli, 'generate', '--schema', schema], { cwd: build, env });
}
