import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageFolder } from './page-folder.js';

interface PageFile {
  readonly type: string;
  readonly text: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

interface PageFiles {
  readonly byName: ReadonlyMap<string, PageFile>;
  /** Another one for other files, so that browsers keep those of a version. */
  readonly version: string;
}

let files: PageFiles | undefined;

/** The script and the styles of the page. Reads them once, when the first board of the process starts. */
export function pageFiles(): PageFiles {
  return (files ??= readFiles());
}

function readFiles(): PageFiles {
  const byName = new Map(readdirSync(pageFolder()).flatMap((name) => fileOf(name)));
  const hash = createHash('sha256');
  for (const { text } of byName.values()) hash.update(text);
  return { byName, version: hash.digest('hex').slice(0, 16) };
}

/** @param base the URL of the scripts, relative to that of the page */
export function pageHtml(base: string): string {
  const html = readFileSync(join(pageFolder(), 'board.html'), 'utf8');
  return html.replaceAll('{base}', base).replaceAll('{version}', pageFiles().version);
}

function fileOf(name: string): [string, PageFile][] {
  const type = TYPES[/\.\w+$/.exec(name)?.[0] ?? ''];
  return type ? [[name, { type, text: readFileSync(join(pageFolder(), name), 'utf8') }]] : [];
}
