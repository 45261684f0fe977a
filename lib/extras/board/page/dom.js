/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => unknown)>} Props */

// These turn the text after them around, up to the end of the line: a file name can look like another one.
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element. Texts become text nodes, so markup in names and payloads stays text. Controls of the direction of text become �.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props} [props] attributes, and listeners such as `onclick`
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, props, children);
  return element;
}

/**
 * @param {string} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 */
export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  fill(element, props, children);
  return element;
}

/**
 * Replaces the children. The focus stays on the control with the same `data-focus`.
 *
 * @param {Element} container
 * @param {...(Child | Child[])} children
 */
export function replace(container, ...children) {
  const focused = document.activeElement;
  const key = focused && container.contains(focused) ? focused.getAttribute('data-focus') : null;
  container.replaceChildren(...nodesOf(children));
  if (key === null) return;
  for (const element of container.querySelectorAll('[data-focus]')) {
    if (element.getAttribute('data-focus') === key) /** @type {HTMLElement} */ (element).focus();
  }
}

/**
 * A table that becomes a list of cards on a narrow screen. The roles keep its meaning there.
 *
 * @param {object} options
 * @param {string} options.caption
 * @param {any[]} options.rows
 * @param {{ title: string, cell: (row: any) => Child | Child[], isNumber?: boolean }[]} options.columns
 * @param {string} [options.empty] the text of a table without rows
 */
export function table({ caption, rows, columns, empty = 'None.' }) {
  if (rows.length === 0) return el('p', { class: 'empty' }, empty);
  const head = columns.map(({ title, isNumber }) =>
    el('th', { scope: 'col', role: 'columnheader', class: isNumber && 'number' }, title || hidden('Actions')),
  );
  const body = rows.map((row) =>
    el(
      'tr',
      { role: 'row' },
      columns.map(({ title, cell, isNumber }) =>
        el('td', { role: 'cell', 'data-label': title, class: isNumber && 'number' }, cell(row)),
      ),
    ),
  );
  return el(
    'table',
    { role: 'table' },
    el('caption', {}, caption),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, head)),
    el('tbody', { role: 'rowgroup' }, body),
  );
}

/**
 * Names and values.
 *
 * @param {[string, Child | Child[]][]} entries those without a value are left out
 */
export function facts(entries) {
  const given = entries.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return el(
    'dl',
    { class: 'facts' },
    given.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
  );
}

/**
 * @param {string} title
 * @param {...(Child | Child[])} children
 */
export function section(title, ...children) {
  return el('section', {}, el('h2', {}, title), ...children);
}

/** @param {string} text for screen readers */
export function hidden(text) {
  return el('span', { class: 'visually-hidden' }, text);
}

/**
 * @param {string} text
 * @param {string} page
 * @param {Record<string, string | number>} [params]
 */
export function link(text, page, params = {}) {
  return el('a', { href: hashOf(page, params), 'data-focus': `${page} ${Object.values(params).join(' ')}` }, text);
}

/**
 * @param {string} page
 * @param {Record<string, string | number | undefined | null>} [params] those without a value are left out
 */
export function hashOf(page, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== '' && value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${page}${query && `?${query}`}`;
}

/**
 * @param {Element} element
 * @param {Props} props
 * @param {(Child | Child[])[]} children
 */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...nodesOf(children));
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodesOf(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child).replace(DIRECTION_CONTROLS, '\ufffd')));
}
