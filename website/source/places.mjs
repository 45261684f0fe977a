// Which page of the site each Markdown file of the repository becomes.
import { existsSync, readdirSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

const REPOSITORY = 'https://github.com/nestjs-sql-queue/nestjs-sql-queue';
const IN_REPOSITORY = new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/`);

/** Folders whose page is the file `index.md` need it, because a server may look for a folder before a file. */
const PAGES = {
  'README.md': 'overview.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'ARCHITECTURE.md': 'architecture.md',
  'FIRST-CHANGE.md': 'first-change.md',
  'bench/README.md': 'bench.md',
  'sample/README.md': 'samples.md',
  'docs/README.md': 'documentation.md',
  'docs/errors.md': 'errors/index.md',
};
const FOLDERS = { 'docs/': '', 'website/pages/': '', 'website/api/': 'api/' };

/** Patterns of the Markdown files that are no pages. */
export const NO_PAGES = [
  ...readdirSync(root, { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name))
    .filter((each) => !['docs/**', 'website/**', 'bench/**', 'sample/**'].includes(each) && !PAGES[each]),
  ...['bench/*/**', 'sample/*/**', 'website/!(pages|api)/**', 'website/*.md'],
];

/** The page of a file, from the root of the site; the file itself if it has none. */
export function pageOf(file) {
  if (PAGES[file]) return PAGES[file];
  const folder = Object.keys(FOLDERS).find((each) => file.startsWith(each));
  return folder === undefined ? file : FOLDERS[folder] + file.slice(folder.length);
}

/** Whether the site has a page for this file. */
export function isPage(file) {
  return file.endsWith('.md') && existsSync(join(root, file)) && pageOf(file) !== file;
}

/**
 * The target of a link in a file: a page of the site if the repository has a page for it, else the file on GitHub.
 *
 * @param {string} href as it stands in the file
 * @param {string} file from the root of the repository
 */
export function targetOf(href, file) {
  const inRepository = IN_REPOSITORY.test(href);
  if (!inRepository && /^([a-z]+:|#|\/)/i.test(href)) return href;

  const [path, heading] = href.replace(IN_REPOSITORY, '').split('#');
  const anchor = heading === undefined ? '' : `#${heading}`;
  const named = posix.normalize(inRepository ? path : posix.join(posix.dirname(file), path)).replace(/\/$/, '');
  if (named === 'docs/decisions') return '/decisions/';
  const page = [named, `${named}/README.md`].find(isPage);
  if (page !== undefined) return `/${pageOf(page).replace(/(^|\/)index\.md$/, '$1')}${anchor}`;
  if (/\.(svg|png)$/.test(named)) return href;
  return `${REPOSITORY}/${/\.\w+$/.test(named) ? 'blob' : 'tree'}/main/${named}${anchor}`;
}

/**
 * The source of an image in a file: relative, also if the file names it on GitHub; undefined if another host has it, which
 * the site does not ask.
 */
export function imageOf(src, file) {
  if (!/^[a-z]+:/i.test(src)) return src;
  const raw = REPOSITORY.replace('github.com', 'raw.githubusercontent.com') + '/main/';
  if (!src.startsWith(raw)) return undefined;
  const path = posix.relative(posix.dirname(file), src.slice(raw.length));
  return path.startsWith('.') ? path : `./${path}`;
}

/** The anchor of a heading, as GitHub derives it. */
export function anchorOf(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

export { REPOSITORY };
