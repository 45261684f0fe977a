import type { Preview } from './answers.js';

// The script is in the folder of the board, wherever a proxy puts it.
const ROOT = new URL('api/', import.meta.url);

const NO_LOGIN = 'You are no longer logged in. Reload this page to log in again.';
const OTHER_PAGE = 'The server answered with another page. You may have to log in again: reload this page.';

/** An answer of the server that is no success. */
export class ApiError extends Error {
  /**
   * @param status 0: the server did not answer
   * @param problems of invalid options: one line each
   */
  constructor(
    readonly status: number,
    message: string,
    readonly code?: string,
    readonly problems?: readonly string[],
  ) {
    super(message);
  }
}

/** The URL of the stream of statistics. */
export const LIVE_URL = new URL('live', ROOT).href;

export type Query = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

/** Fields of the query without a value are left out. */
export function read<Answer>(name: string, query: Query = {}): Promise<Answer> {
  const url = new URL(name, ROOT);
  for (const [key, value] of Object.entries(query))
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== '') url.searchParams.append(key, String(one));
  return send(url, { headers: { accept: 'application/json' } });
}

/** `changed`: the number of changed jobs or queues. `id`: the new job. A dry run has a preview. */
export interface WriteAnswer extends Partial<Preview> {
  readonly changed?: number;
  readonly id?: number;
}

export function write(verb: string, body: object): Promise<WriteAnswer> {
  const headers = { 'content-type': 'application/json', 'x-sql-queue': '1' };
  return send(new URL(verb, ROOT), { method: 'POST', headers, body: JSON.stringify(body) });
}

async function send<Answer>(url: URL, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...init, credentials: 'same-origin', cache: 'no-store' }).catch(() => {
    throw new ApiError(0, 'The server does not answer.');
  });
  const { ok, status, redirected } = response;
  const body: unknown = await response.json().catch(() => undefined);
  // A login in front of the board answers with its page, or redirects to it. Then the board has not done anything.
  if (ok && (redirected || !isObject(body))) throw new ApiError(status, OTHER_PAGE);
  if (ok) return body as Answer;
  // Guards and proxies answer with texts of their own.
  const failure: { message?: string; code?: string; problems?: string[] } = isObject(body) ? body : {};
  const { message = `The server answered with status ${status}.`, code, problems } = failure;
  throw new ApiError(status, status === 401 ? NO_LOGIN : message, code, problems);
}

const isObject = (body: unknown): body is object => typeof body === 'object' && body !== null;

/** Why a read has no answer, as the page shows it. */
export interface ReadFailure {
  /** 0: the server did not answer. */
  readonly status: number;
  readonly text: string;
}

export function failureOf(error: unknown): ReadFailure {
  return { status: error instanceof ApiError ? error.status : 0, text: messageOf(error) };
}

/** The viewer lacks a right, so that another read has the same answer. */
export const isForbidden = ({ status }: ReadFailure) => status === 403;

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
