import type { Preview } from './answers.js';

// The script is in the folder of the board, wherever a proxy puts it.
const ROOT = new URL('api/', import.meta.url);

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
  // Guards and proxies answer with texts of their own.
  const body = (await response.json().catch(() => ({}))) as { message?: string; code?: string; problems?: string[] };
  if (response.ok) return body as Answer;
  const { message = `The server answered with status ${response.status}.`, code, problems } = body;
  throw new ApiError(response.status, message, code, problems);
}

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
