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

/** A file for one client. */
interface SentFile {
  readonly content: string | Buffer;
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

/** The file, compressed if the client accepts it. Other clients get other bytes, so caches must know about it. */
export async function sentFile({ text, compressed }: PageFile, accepted: string | undefined): Promise<SentFile> {
  const encoding = preferredEncoding(accepted);
  const headers = { vary: 'Accept-Encoding', etag: `"${[pageFiles().version, encoding].filter(Boolean).join('-')}"` };
  if (!encoding) return { content: text, headers };
  const content = compressed.get(encoding) ?? compress(text, encoding);
  compressed.set(encoding, content);
  return { content: await content, headers: { ...headers, 'content-encoding': encoding } };
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
