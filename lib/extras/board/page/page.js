/**
 * @typedef {object} Context
 * @property {Record<string, string>} params of the URL
 * @property {any[] | undefined} queues statistics that have just arrived; undefined: the page reads them
 */

/**
 * @typedef {object} Page
 * @property {(params: Record<string, string>) => string} title
 * @property {(context: Context) => Promise<Node[]>} draw
 */

/** The parameters of the page that is open. */
export function paramsOf() {
  return Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? ''));
}
