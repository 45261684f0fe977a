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

export {};
