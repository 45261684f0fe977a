// The scripts are in the folder of the board, wherever a proxy puts it.
const ROOT = new URL('api/', import.meta.url);

/** An answer of the server that is no success. */
class ApiError extends Error {
  /**
   * @param {number} status 0: the server did not answer
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The URL of the stream of statistics. */
export const LIVE_URL = new URL('live', ROOT).href;

/**
 * @param {string} name
 * @param {Record<string, string | number | string[] | null | undefined>} [query] fields without a value are left out
 * @returns {Promise<any>}
 */
export function read(name, query = {}) {
  const url = new URL(name, ROOT);
  for (const [key, value] of Object.entries(query)) {
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== '') url.searchParams.append(key, String(one));
  }
  return send(url, { headers: { accept: 'application/json' } });
}

/**
 * @param {string} verb
 * @param {object} body
 * @returns {Promise<any>}
 */
export function write(verb, body) {
  const headers = { 'content-type': 'application/json', 'x-sql-queue': '1' };
  return send(new URL(verb, ROOT), { method: 'POST', headers, body: JSON.stringify(body) });
}

/**
 * @param {URL} url
 * @param {RequestInit} init
 */
async function send(url, init) {
  const response = await fetch(url, { ...init, credentials: 'same-origin', cache: 'no-store' }).catch(() => {
    throw new ApiError(0, 'The server does not answer.');
  });
  // Guards and proxies answer with texts of their own.
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  throw new ApiError(response.status, body.message ?? `The server answered with status ${response.status}.`);
}
