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

let files: ReadonlyMap<string, PageFile> | undefined;

/** The scripts and styles of the page by name. Reads them once, when the first board of the process starts. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  return (files ??= new Map(readdirSync(pageFolder()).flatMap((name) => fileOf(name))));
}

/** @param base the URL of the scripts, relative to that of the page */
export function pageHtml(base: string): string {
  return readFileSync(join(pageFolder(), 'board.html'), 'utf8').replaceAll('{base}', base);
}

function fileOf(name: string): [string, PageFile][] {
  const type = TYPES[/\.\w+$/.exec(name)?.[0] ?? ''];
  return type ? [[name, { type, text: readFileSync(join(pageFolder(), name), 'utf8') }]] : [];
}
