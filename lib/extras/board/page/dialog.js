import { messageOf } from './announce.js';
import { el } from './dom.js';
import { valuesOf } from './search-form.js';

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {string} [value]
 * @property {string} [hint]
 * @property {'text' | 'number' | 'datetime-local' | 'textarea'} [type]
 * @property {boolean} [required]
 */

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {import('./dom.js').Child[]} [content] before the fields
 * @property {Field[]} [fields]
 * @property {string} submit the text of the button
 * @property {boolean} [isDangerous]
 * @property {(values: Record<string, string>) => Promise<void>} act its error is shown, and the dialog stays open
 */

/** @param {Question} question asked in a modal dialog, which keeps the focus until it closes */
export function ask({ title, content = [], fields = [], submit, isDangerous, act }) {
  const problem = el('p', { class: 'problem', role: 'alert' });
  const inputs = fields.map(fieldOf);
  const confirm = el('button', { type: 'submit', class: isDangerous ? 'danger' : 'primary' }, submit);
  const cancel = el('button', { type: 'button' }, 'Keep as it is');
  const form = el('form', {}, content, inputs, problem, el('p', { class: 'buttons' }, confirm, cancel));
  const dialog = el('dialog', { 'aria-labelledby': 'dialog-title' }, el('h2', { id: 'dialog-title' }, title), form);
  cancel.addEventListener('click', () => dialog.close());
  const send = async () => {
    confirm.disabled = true;
    problem.textContent = '';
    try {
      await act(valuesOf(form));
      dialog.close();
    } catch (error) {
      problem.textContent = messageOf(error);
    } finally {
      confirm.disabled = false;
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
  // The browser gives the focus back to the button that opened the dialog.
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Whether a dialog is open: updates wait until it closes. */
export function isAsking() {
  return document.querySelector('dialog[open]') !== null;
}

/** @param {Field} field */
function fieldOf({ name, label, value = '', hint, type = 'text', required }) {
  const id = `field-${name}`;
  const describedBy = hint && `${id}-hint`;
  const shared = { id, name, required, autocomplete: 'off', 'aria-describedby': describedBy };
  const control =
    type === 'textarea'
      ? el('textarea', { ...shared, rows: 12, spellcheck: 'false' })
      : el('input', { ...shared, type });
  // As it is stored: the text of an element shows controls of its direction as �.
  control.value = value;
  return el(
    'p',
    { class: 'field' },
    el('label', { for: id }, label),
    control,
    hint && el('small', { id: describedBy }, hint),
  );
}
