import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compress, preferredEncoding, type PageEncoding } from './page-encodings.js';
import { pageFolder } from './page-folder.js';

interface PageFile {
  readonly type: string;
  readonly text: string;
  /** Filled by the first client that accepts an encoding. */
  readonly compressed: Map<PageEncoding, Promise<Buffer>>;
}

/** The form of a file for one client. */
interface FileForm {
  readonly encoding: PageEncoding | undefined;
  readonly headers: Readonly<Record<string, string>>;
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

/** The form that the client accepts. Other clients get other bytes, so caches must know about it. */
export function formFor(accepted: string | undefined): FileForm {
  const encoding = preferredEncoding(accepted);
  const etag = `"${[pageFiles().version, encoding].filter(Boolean).join('-')}"`;
  return { encoding, headers: { vary: 'Accept-Encoding', etag, ...(encoding && { 'content-encoding': encoding }) } };
}

/** Whether the header If-None-Match of a client has the entity tag of the file: the client has these bytes already. */
export function isKept(ifNoneMatch: string | undefined, { headers }: FileForm): boolean {
  // A proxy that changes the answer makes the tag a weak one.
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(headers['etag']!);
}

export async function contentOf({ text, compressed }: PageFile, { encoding }: FileForm): Promise<string | Buffer> {
  if (!encoding) return text;
  const known = compressed.get(encoding);
  if (known) return known;
  const content = compress(text, encoding);
  compressed.set(encoding, content);
  // A failure is not kept.
  content.catch(() => compressed.delete(encoding));
  return content;
}

/** @param base the URL of the scripts, relative to that of the page */
export function pageHtml(base: string): string {
  const html = readFileSync(join(pageFolder(), 'board.html'), 'utf8');
  return html.replaceAll('{base}', base).replaceAll('{version}', pageFiles().version);
}

function fileOf(name: string): [string, PageFile][] {
  const type = TYPES[/\.\w+$/.exec(name)?.[0] ?? ''];
  if (!type) return [];
  return [[name, { type, text: readFileSync(join(pageFolder(), name), 'utf8'), compressed: new Map() }]];
}
