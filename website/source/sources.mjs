// What the site reads from the repository. Each function fails if its source has changed its form, so that no page loses
// its content unnoticed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './places.mjs';

export function read(file) {
  return readFileSync(join(root, file), 'utf8');
}

/**
 * The sections of docs/README.md with their entries, which are the order of all pages.
 *
 * @returns {{ title: string, entries: { title: string, href: string, text: string }[] }[]}
 */
export function readOutline() {
  const [, ...sections] = read('docs/README.md').split(/^## /m);
  return sections.map((section) => {
    const [title, ...lines] = section.split('\n');
    const [, ...items] = lines.join('\n').split(/^- /m);
    return {
      title: title.trim(),
      entries: present(items.flatMap(entriesOf), `list under "${title}" in docs/README.md`),
    };
  });
}

/** An item has one link or several, and one description. */
function entriesOf(item) {
  const [, links, text = ''] = item.replaceAll(/\s+/g, ' ').match(/^(.*?\))(?:: (.*?))? ?$/);
  return [...links.matchAll(/\[(.+?)\]\((\S+?)\)/g)].map(([, title, href]) => ({ title, href, text }));
}

/** The first paragraph of README.md that is prose. */
export function readSummary() {
  const paragraphs = read('README.md').split(/\n{2,}/);
  return present(
    paragraphs.find((each) => /^[A-Z]/.test(each)),
    'first paragraph of README.md',
  ).replaceAll(/\s+/g, ' ');
}

/** @returns {{ code: string, className: string, when: string }[]} The rows of docs/errors.md. */
export function readErrors() {
  const rows = [...read('docs/errors.md').matchAll(/^\| `([A-Z_]+)` +\| (\w+) +\| (.+?) +\|$/gm)];
  return present(rows, 'table of codes in docs/errors.md').map(([, code, className, when]) => ({
    ...{ code, className, when },
  }));
}

/** @returns {{ file: string, number: string, title: string }[]} */
export function readDecisions() {
  const files = readdirSync(join(root, 'docs/decisions')).filter((name) => name.endsWith('.md'));
  return files.sort().map((name) => {
    const heading = present(read(`docs/decisions/${name}`).match(/^# (\d+)\. (.+)$/m), `heading of ${name}`);
    return { file: `docs/decisions/${name}`, number: heading[1], title: heading[2] };
  });
}

/** The cells of a row of the first table of a file that has one with this first cell. */
export function readRow(file, first) {
  const line = read(file)
    .split('\n')
    .find((each) => each.startsWith('|') && cellsOf(each)[0] === first);
  return cellsOf(present(line, `row "${first}" in ${file}`));
}

function cellsOf(line) {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

export function present(value, name) {
  if (value === undefined || value === null || value.length === 0)
    throw new Error(`website: expected the ${name}, found none; correct the source or website/source`);
  return value;
}
