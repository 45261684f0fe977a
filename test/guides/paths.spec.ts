import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const FOLDERS = ['bench', 'docs', 'lib', 'prom', 'sample', 'scripts', 'test'];
// Their files come and go while this test runs.
const WRITTEN_BY_TESTS = ['build', 'node_modules'];
const WHOLE = /(?<![\w./@-])(?:bench|features|lib|prom|sample|scripts|store|test)\/[\w./*<>…-]*\w/g;

describe('the documentation', () => {
  it('names only files and folders that exist', async () => {
    const paths = (await Promise.all(FOLDERS.map(pathsBelow))).flat();
    const guides = paths.filter((path) => path.startsWith('docs/') && path.endsWith('.md'));

    const missing = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'FIRST-CHANGE.md', ...guides].flatMap((page) =>
      pathsIn(page)
        .filter((path) => !paths.some((each) => patternOf(path).test(each)))
        .map((path) => `${page}: ${path}`),
    );

    expect(missing).toEqual([]);
  });
});

/** From the root. */
async function pathsBelow(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const paths = entries
    .filter(({ name }) => !WRITTEN_BY_TESTS.includes(name))
    .map(async (entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? pathsBelow(path) : [path];
    });
  return [folder, ...(await Promise.all(paths)).flat()];
}

/** ARCHITECTURE also names files without their folders. In a guide such a name can be that of a user's file. */
function pathsIn(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const whole = text.matchAll(WHOLE);
  const codes = page === 'ARCHITECTURE.md' ? [...text.matchAll(/`[^`\n]+`|^  .*→.*$/gm)] : [];
  const named = codes.flatMap(([code]) => [...code.matchAll(/[\w./*<>…-]+(?:\.(?:ts|mjs|js)\b|(?=\/`))/g)]);
  return [...whole, ...named].map(([path]) => path);
}

/**
 * A path from the root, or the end of one. `*`, `…` and `<name>` stand for a part of a name. The extension may be missing,
 * as in the arguments of the tests.
 */
function patternOf(path: string): RegExp {
  const source = path.replaceAll('.', '\\.').replaceAll(/[*…]|<\w+>/g, '[^/]*');
  return new RegExp(`(?:^|/)${source}(?:\\.[\\w.]+)?$`);
}
