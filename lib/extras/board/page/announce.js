import { el } from './dom.js';

/** @param {string} text the result of an action, which screen readers read */
export function announce(text) {
  show(text, 'success');
}

/** @param {unknown} error */
export function announceError(error) {
  show(messageOf(error), 'failure');
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * @param {string} text
 * @param {'success' | 'failure'} kind
 */
function show(text, kind) {
  const place = /** @type {HTMLElement} */ (document.getElementById('result'));
  const sign = kind === 'success' ? '✓' : '✗';
  const close = el(
    'button',
    { type: 'button', 'aria-label': 'Close the message', onclick: () => place.replaceChildren() },
    '×',
  );
  place.replaceChildren(
    el('div', { class: `message ${kind}` }, el('span', { 'aria-hidden': 'true' }, sign), el('span', {}, text), close),
  );
}
