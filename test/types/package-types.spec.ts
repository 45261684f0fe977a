import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installLibrary } from '../support/built-library.js';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const isTypeTest = (name: string) => name.endsWith('.types.ts') || name === 'expect.ts';
const typeTests = (await readdir(import.meta.dirname, { recursive: true })).filter(isTypeTest);

// The type tests of this folder, run against the published declarations.
describe('the declarations of the built package', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'sql-queue-types-'));
    await installLibrary(join(project, 'node_modules/nestjs-sql-queue'));
    const others = (await readdir(join(root, 'node_modules'))).filter((name) => !/^(\.|nestjs-sql-queue)/.test(name));
    for (const name of others) await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name));
  });

  afterAll(() => rm(project, { recursive: true, force: true }));

  it.each([
    ['module', 'nodenext', 'nodenext'],
    ['commonjs', 'nodenext', 'nodenext'],
    ['commonjs', 'commonjs', 'bundler'],
  ])('pass the type tests in a project of type %s with module %s', async (type, module, moduleResolution) => {
    const folder = await mkdtemp(join(project, 'consumer-'));
    for (const name of typeTests) await cp(join(import.meta.dirname, name), join(folder, name));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type }));
    const compilerOptions = {
      ...{
        module,
        moduleResolution,
        target: 'es2022',
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        types: ['node'],
      },
      ...{ isolatedModules: true, experimentalDecorators: true, emitDecoratorMetadata: true },
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const declared = { extends: '../tsconfig.json', include: ['*.ts'] };
    await writeFile(join(folder, 'declared/tsconfig.json'), JSON.stringify(declared));

    const check = (project: string) =>
      node('node_modules/typescript/bin/tsc', '-p', project).catch(({ stdout }: { stdout: string }) => stdout);

    expect(await check(folder)).toBe('');
    expect(await check(join(folder, 'declared'))).toBe('');
  });

  async function node(script: string, ...values: string[]): Promise<string> {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const { stdout } = await run(process.execPath, [join(root, script), ...values], { cwd: root, env });
    return stdout;
  }
});
