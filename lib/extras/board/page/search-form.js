import { el, hashOf } from './dom.js';

/**
 * A form whose values become the parameters of a page. An update of the page waits while they are unsent.
 *
 * @param {string} label
 * @param {string} page
 * @param {import('./dom.js').Child[]} controls
 * @param {Record<string, string>} [kept] the parameters after `Clear`; without them there is no such link
 */
export function searchForm(label, page, controls, kept) {
  const form = el(
    'form',
    { class: 'filter', role: 'search', 'aria-label': label },
    controls,
    el('button', { type: 'submit', class: 'primary' }, 'Show'),
    kept && el('a', { href: hashOf(page, kept) }, 'Clear'),
  );
  form.addEventListener('input', () => (form.dataset.changed = ''));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    delete form.dataset.changed;
    location.hash = hashOf(page, valuesOf(form));
  });
  return form;
}

/**
 * @param {HTMLFormElement} form
 * @returns {Record<string, string>} trimmed
 */
export function valuesOf(form) {
  const texts = [...new FormData(form)].filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts.map(([name, value]) => [name, /** @type {string} */ (value).trim()]));
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string} [value]
 * @param {string} [type]
 */
export function searchField(name, label, value = '', type = 'text') {
  return el(
    'label',
    {},
    label,
    el('input', { name, type, value, autocomplete: 'off', 'data-focus': `search ${name}` }),
  );
}
