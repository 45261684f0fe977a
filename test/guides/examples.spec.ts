import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/nestjs-sql-queue');
const run = promisify(execFile);

/** Pages without application code: tables of contents, words, measurements and statements. */
const WITHOUT_EXAMPLE = [
  'docs/README.md',
  'docs/benchmarks.md',
  'docs/cli.md',
  'docs/glossary.md',
  'docs/reliability.md',
  'docs/runbook.md',
  'docs/guides/costs.md',
  'docs/guides/other-languages.md',
];

interface Page {
  readonly page: string;
  readonly examples: readonly string[];
}

/** Every TypeScript block that starts with imports, because such a block is a whole file. */
async function pageOf(file: string): Promise<Page> {
  const text = await readFile(file, 'utf8');
  return {
    page: relative(root, file),
    examples: [...text.matchAll(/^```ts\n(import [\s\S]*?)^```$/gm)].map(([, code]) => code!),
  };
}

async function pagesIn(folder: string): Promise<Page[]> {
  const names = (await readdir(join(root, folder))).filter((name) => name.endsWith('.md'));
  return Promise.all(names.sort().map((name) => pageOf(join(root, folder, name))));
}

/** The same blocks in the doc comments of lib, which the API reference of the site shows. */
async function examplesOfComments(): Promise<Page[]> {
  const names = (await readdir(join(root, 'lib'), { recursive: true })).filter((name) => name.endsWith('.ts'));
  const pages = names.sort().map(async (name) => {
    const comments = await readFile(join(root, 'lib', name), 'utf8');
    const blocks = comments.matchAll(/^ *\* ```ts\n((?: *\*(?! ```).*\n)+)/gm);
    const codes = [...blocks].map(([, block]) => block!.replaceAll(/^ *\* ?/gm, ''));
    return { page: `lib/${name}`, examples: codes.filter((code) => code.startsWith('import ')) };
  });
  return (await Promise.all(pages)).filter(({ examples }) => examples.length > 0);
}

describe('the examples of the README and the documentation', () => {
  let pages: Page[];

  beforeAll(async () => {
    const nested = await Promise.all(['docs', 'docs/guides', 'docs/recipes'].map(pagesIn));
    pages = [await pageOf(join(root, 'README.md')), ...nested.flat()];
  });

  it('are on every page that explains how to use the library', () => {
    const missing = pages.filter(({ examples }) => examples.length === 0).map(({ page }) => page);

    expect(missing.sort()).toEqual([...WITHOUT_EXAMPLE].sort());
  });

  it('name the DataSource of the application, or say where it comes from', () => {
    const isSilent = (code: string) =>
      code.includes('@Module') &&
      code.includes('SqlQueueModule.forRoot(') &&
      !/TypeOrmModule|dataSource|connection:/.test(code);

    const silent = pages.filter(({ examples }) => examples.some(isSilent)).map(({ page }) => page);

    expect(silent).toEqual([]);
  });

  it('declare no route below one with a parameter that matches it too', () => {
    const shadowed = pages.flatMap(({ page, examples }) =>
      examples
        .filter((code) => /@(Get|Post|Put|Patch|Delete)\(':\w+'\)[\s\S]*@\1\('[\w-]+'\)/.test(code))
        .map(() => page),
    );

    expect(shadowed).toEqual([]);
  });

  it('compile in a project of `nest new`', async () => {
    const files = [...pages, ...(await examplesOfComments())].flatMap(({ page, examples }) =>
      examples.map((code, index) => ({
        name: `${page.replace(/\.(md|ts)$/, '').replaceAll('/', '-')}-${index + 1}.ts`,
        code,
      })),
    );
    // A declaration of QueueJobs counts for all files of a project, so each example with one is a project of its own.
    const declares = ({ code }: { code: string }) => code.includes(`declare module 'nestjs-sql-queue'`);
    const projects = [files.filter((file) => !declares(file)), ...files.filter(declares).map((file) => [file])];

    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(join(cache, 'examples-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const problems: string[] = [];
    for (const [index, project] of projects.entries())
      problems.push(await problemsOf(join(folder, `${index}`), project));

    expect(problems.join('')).toBe('');
  });
});

/** The compiler's output for a project of these files; empty if it has no problem. */
async function problemsOf(folder: string, files: readonly { name: string; code: string }[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const { name, code } of files) await writeFile(join(folder, name), code);
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      module: 'nodenext',
      noEmit: true,
      types: ['node', 'vitest/globals'],
      paths: {
        'nestjs-sql-queue': [join(root, 'lib/index.ts')],
        'nestjs-sql-queue/*': [join(root, 'lib/extras/*/index.ts')],
      },
    },
    files: files.map(({ name }) => name),
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));

  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return run(process.execPath, [tsc, '-p', folder]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
}
