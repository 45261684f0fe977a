/** The headers of a request of Express or Fastify. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The sign that a page of another origin has sent the request; undefined without one. Other sites must not reach a
 * dashboard through a permission (CORS) that an application may give to every origin. Programs that are no browser send
 * neither header.
 *
 * @param origins public origins of the dashboard, beside the host of the request
 */
export function foreignOriginProblem(headers: RequestHeaders, origins: readonly string[]): string | undefined {
  const site = headerOf(headers, 'sec-fetch-site');
  if (site !== undefined) {
    return site === 'same-origin' || site === 'none' ? undefined : `expected Sec-Fetch-Site: same-origin, got ${site}`;
  }
  return headerOf(headers, 'origin') === undefined ? undefined : originProblem(headers, origins);
}

export function originProblem(headers: RequestHeaders, origins: readonly string[]): string | undefined {
  const origin = headerOf(headers, 'origin');
  if (origin !== undefined && URL.canParse(origin)) {
    if (origins.includes(origin) || new URL(origin).host === headerOf(headers, 'host')) return undefined;
  }
  return 'expected an Origin with the host of the request';
}

export function headerOf(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join() : value;
}

export function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value;
}
