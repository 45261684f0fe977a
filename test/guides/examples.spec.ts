import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Every TypeScript block of a document that begins with its imports, which says that it is a whole file. */
async function examplesOf(file: string): Promise<{ name: string; code: string }[]> {
  const text = await readFile(file, 'utf8');
  const blocks = [...text.matchAll(/^```ts\n(import [\s\S]*?)^```$/gm)];
  return blocks.map(([, code], index) => ({ name: `${basename(file, '.md')}-${index + 1}.ts`, code: code! }));
}

describe('the examples of the README and the guides', () => {
  const folder = join(root, 'node_modules/.cache/nestjs-sql-queue/examples');

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('compile in a project as `nest new` makes it', async () => {
    const guides = (await readdir(join(root, 'docs/guides'))).map((name) => join(root, 'docs/guides', name));
    const examples = (await Promise.all([join(root, 'README.md'), ...guides].map(examplesOf))).flat();
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    for (const { name, code } of examples) await writeFile(join(folder, name), code);
    const config = {
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        module: 'nodenext',
        noEmit: true,
        paths: {
          'nestjs-sql-queue': [join(root, 'lib/index.ts')],
          'nestjs-sql-queue/*': [join(root, 'lib/*/index.ts')],
        },
      },
      files: examples.map(({ name }) => name),
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));

    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const problems = await run(process.execPath, [tsc, '-p', folder]).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );

    expect(problems).toBe('');
    expect(examples.length).toBeGreaterThanOrEqual(4);
  });
});
