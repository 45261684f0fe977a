// A static server that treats addresses as hosts of static sites do: /page is page.html, /folder/ its index.html.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml',
};

/** Serves a folder below a path, such as `/docs/`, on a free port. */
export async function serveSite(folder, base) {
  const server = createServer((request, response) => void answer(folder, base, request.url, response));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((closed) => server.close(closed).closeAllConnections()),
  };
}

async function answer(folder, base, url, response) {
  const path = normalize(decodeURIComponent(new URL(url, 'http://site').pathname));
  const file = path.startsWith(base) ? fileOf(path.slice(base.length)) : undefined;
  const content = file && (await readFile(join(folder, file)).catch(() => undefined));
  if (content === undefined) {
    response.writeHead(404, { 'content-type': TYPES['.html'] });
    response.end(await readFile(join(folder, '404.html')));
    return;
  }
  const isHashed = file.startsWith('assets/');
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    ...(isHashed && { 'cache-control': 'public, max-age=31536000, immutable' }),
  });
  response.end(content);
}

function fileOf(path) {
  if (path === '' || path.endsWith('/')) return `${path}index.html`;
  return extname(path) === '' ? `${path}.html` : path;
}
