import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
// Pages of the package link so to files that only the repository has.
const REPOSITORY =
  /^https:\/\/(?:github\.com\/nestjs-sql-queue\/nestjs-sql-queue\/(?:blob|tree)|raw\.githubusercontent\.com\/nestjs-sql-queue\/nestjs-sql-queue)\/main\//;

describe('the links of the README and the documentation', () => {
  it('lead to files and headings that exist', async () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'ARCHITECTURE.md',
      'FIRST-CHANGE.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'CODE_OF_CONDUCT.md',
      'bench/README.md',
    ];
    for (const folder of ['docs', 'sample']) {
      const names = await readdir(join(root, folder), { recursive: true });
      pages.push(...names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name)));
    }

    const broken = pages.flatMap((page) => brokenLinks(join(root, page)));

    expect(broken).toEqual([]);
  });

  it('show pictures in the README by absolute addresses, which npm can load', () => {
    const pictures = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/ src(?:set)?="([^"]*)"/g)];

    expect(pictures.length).toBeGreaterThan(1);
    expect(pictures.filter(([, address]) => !REPOSITORY.test(address!))).toEqual([]);
  });
});

describe('the README', () => {
  it('is short: at most 205 lines', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(206);
  });
});

function brokenLinks(page: string): string[] {
  const prose = proseOf(page);
  const links = [...prose.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g), ...prose.matchAll(/ src(?:set)?="([^"]*)"/g)];
  return links
    .filter(([, path]) => REPOSITORY.test(path!) || !/^https?:/.test(path!))
    .filter(([, path, heading]) => {
      const target = path ? resolve(dirname(page), path.replace(REPOSITORY, `${root}/`)) : page;
      return !existsSync(target) || (heading !== undefined && !headingsOf(target).has(heading));
    })
    .map(([link]) => `${relative(root, page)}: ${link}`);
}

/** The anchors of a page, as GitHub derives them from its headings. */
function headingsOf(page: string): Set<string> {
  const titles = [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

/** The text without its code blocks. */
function proseOf(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
}
