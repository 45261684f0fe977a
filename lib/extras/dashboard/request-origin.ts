/** The headers of a request of Express or Fastify. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/**
 * The sign that a page of another origin may have sent the request; undefined without one. Other sites must not reach a
 * dashboard through a permission (CORS) that an application may give to every origin.
 *
 * @param kind a read may come from the address bar (`none`), and from programs that are no browser, which send neither
 * header. A write must come from a page of the dashboard
 * @param origins public origins of the dashboard, beside the host of the request
 */
export function foreignOriginProblem(
  kind: 'read' | 'write',
  headers: RequestHeaders,
  origins: readonly string[],
): string | undefined {
  const site = headerOf(headers, 'sec-fetch-site');
  if (site !== undefined) {
    const isAllowed = site === 'same-origin' || (kind === 'read' && site === 'none');
    return isAllowed ? undefined : `expected Sec-Fetch-Site: same-origin, got ${site}`;
  }
  const origin = headerOf(headers, 'origin');
  if (kind === 'read' && origin === undefined) return undefined;
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
