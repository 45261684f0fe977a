import { el, hashOf, svg } from './dom.js';

const NODE = { width: 168, height: 44 };
const GAP = { x: 48, y: 16 };
const MAX_DRAWN = 200;

/**
 * A flow from left to right: each job stands right of those that it needs. The list beside it has the same in words.
 *
 * @param {any[]} jobs each after those that it needs
 */
export function flowGraph(jobs) {
  if (jobs.length > MAX_DRAWN) return el('p', {}, `The graph of ${jobs.length} jobs is too large to draw.`);
  const places = placesOf(jobs);
  const all = [...places.values()];
  const width = Math.max(...all.map(({ x }) => x)) + NODE.width + 4;
  const height = Math.max(...all.map(({ y }) => y)) + NODE.height + 4;
  const edges = jobs.flatMap((job) =>
    job.needs.flatMap((/** @type {any} */ { id, onFailure }) => edge(places.get(id), places.get(job.id), onFailure)),
  );
  const nodes = jobs.map((job) => node(job, /** @type {Place} */ (places.get(job.id))));
  const label = `Graph of ${jobs.length} jobs`;
  return el(
    'div',
    { class: 'graph', role: 'region', tabindex: '0', 'aria-label': label },
    svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': label }, edges, nodes),
  );
}

/** @typedef {{ x: number, y: number }} Place */

/** @param {any[]} jobs */
function placesOf(jobs) {
  /** @type {Map<number, number>} */
  const columns = new Map();
  /** @type {number[]} */
  const rows = [];
  /** @type {Map<number, Place>} */
  const places = new Map();
  for (const { id, needs } of jobs) {
    const before = needs.map((/** @type {any} */ need) => columns.get(need.id) ?? -1);
    const column = Math.max(-1, ...before) + 1;
    const row = rows[column] ?? 0;
    columns.set(id, column);
    rows[column] = row + 1;
    places.set(id, { x: 2 + column * (NODE.width + GAP.x), y: 2 + row * (NODE.height + GAP.y) });
  }
  return places;
}

/**
 * @param {Place | undefined} from undefined if the job is not in the flow
 * @param {Place | undefined} to
 * @param {string} onFailure
 */
function edge(from, to, onFailure) {
  if (!from || !to) return [];
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x, to.y + NODE.height / 2];
  const middle = (x1 + x2) / 2;
  const d = `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2 - 6} ${y2}`;
  return [
    svg('path', { class: `edge ${onFailure}`, d }),
    svg('path', { class: 'arrow', d: `M${x2} ${y2} l-7 -4 v8 z` }),
  ];
}

/**
 * @param {any} job
 * @param {Place} place
 */
function node({ id, queue, name, state }, { x, y }) {
  const shown = (/** @type {string} */ text) => (text.length > 22 ? `${text.slice(0, 21)}…` : text);
  return svg(
    'a',
    {
      href: hashOf('job', { id }),
      class: `node ${state}`,
      'data-focus': `node ${id}`,
    },
    svg('rect', { x, y, width: NODE.width, height: NODE.height, rx: 6 }),
    svg('text', { x: x + 10, y: y + 18, class: 'strong' }, shown(`#${id} ${name}`)),
    svg('text', { x: x + 10, y: y + 35 }, shown(`${state} · ${queue}`)),
  );
}
