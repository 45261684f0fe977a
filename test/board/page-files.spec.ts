import { get, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startBoard } from './support/board-app.js';

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

describe.each(['express', 'fastify'] as const)('the files of the page, on %s', (adapter) => {
  it('arrive with brotli or gzip if the browser accepts it, and as plain text otherwise', async () => {
    const { url } = await startBoard({ adapter });
    const script = await scriptOf(url);
    const receive = (accepted?: string) => fetchFile(script, accepted === undefined ? {} : { accepted });

    const [plain, brotli, gzip] = await Promise.all([receive(), receive('gzip, deflate, br'), receive('gzip;q=1.0')]);
    const others = ['br;q=0', 'gzip;q=0.5, br;q=0.1', '*', 'deflate, zstd', 'gzip;q=0, *;q=0'];
    const encodings = await Promise.all(others.map(async (one) => (await receive(one)).headers['content-encoding']));

    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(String(plain.body)).toContain('EventSource');
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(Math.max(brotli.body.length, gzip.body.length)).toBeLessThan(plain.body.length / 2);
    expect(encodings).toEqual([undefined, 'gzip', 'br', undefined, undefined]);
    for (const { status, headers, body } of [plain, brotli, gzip]) {
      expect([status, Number(headers['content-length'])]).toEqual([200, body.length]);
      expect(headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'private, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  it('have an entity tag for each encoding, by which a browser keeps its own', async () => {
    const { url } = await startBoard({ adapter });
    const styles = `${url}/board.css`;

    const received = await Promise.all([
      fetchFile(styles),
      ...['br', 'gzip'].map((accepted) => fetchFile(styles, { accepted })),
    ]);
    const [plain, brotli, gzip] = received.map(({ headers }) => headers.etag!);
    const again = await fetchFile(styles, { accepted: 'br', kept: brotli! });
    const other = await fetchFile(styles, { accepted: 'br', kept: gzip! });
    const plainAgain = await fetchFile(styles, { kept: plain! });

    expect(new Set([plain, brotli, gzip]).size).toBe(3);
    expect(received.map(({ headers }) => headers['cache-control'])).toEqual(['no-cache', 'no-cache', 'no-cache']);
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, brotli]);
    expect([other.status, other.headers.etag]).toEqual([200, brotli]);
    expect(plainAgain.status).toBe(304);
  });

  it('stay with a browser whose tag is weak, one of a list, or any', async () => {
    const { url } = await startBoard({ adapter });
    const styles = `${url}/board.css`;
    const { etag } = (await fetchFile(styles, { accepted: 'br' })).headers;
    const statusFor = async (kept: string) => (await fetchFile(styles, { accepted: 'br', kept })).status;

    expect(await Promise.all([`W/${etag}`, `"a", W/"b" ,${etag}`, '*'].map(statusFor))).toEqual([304, 304, 304]);
    expect(await Promise.all(['"a", W/"b"', '', `${etag}x`].map(statusFor))).toEqual([200, 200, 200]);
  });
});

/** The address of the script that the page loads. */
async function scriptOf(url: string): Promise<string> {
  const html = await (await fetch(url)).text();
  return new URL(/src="([^"]+)"/.exec(html)![1]!, url).href;
}

/** The bytes as the server sends them: `fetch` asks for encodings of its own, and decodes them. */
function fetchFile(url: string, { accepted, kept }: { accepted?: string; kept?: string } = {}): Promise<Received> {
  const headers = {
    ...(accepted !== undefined && { 'accept-encoding': accepted }),
    ...(kept !== undefined && { 'if-none-match': kept }),
  };
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      const parts: Buffer[] = [];
      response
        .on('data', (part: Buffer) => parts.push(part))
        .once('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }),
        );
    }).once('error', reject);
  });
}
