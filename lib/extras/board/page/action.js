import { announce, announceError } from './announce.js';
import { write } from './api.js';
import { ask } from './dialog.js';
import { el } from './dom.js';
import { refresh } from './refresh.js';

/**
 * @typedef {object} Action
 * @property {string} verb
 * @property {string} text the text of the button
 * @property {string} [label] the whole name, if the text depends on its row
 * @property {string} [confirm] the question; without one the action runs at once
 * @property {import('./dialog.js').Field[]} [fields]
 * @property {import('./dom.js').Child[]} [content]
 * @property {boolean} [isDangerous]
 * @property {(values: Record<string, string>) => object} body
 * @property {(answer: any) => string} done the message after it
 * @property {(answer: any) => unknown} [after] shows the new state; without it the page is drawn again
 */

/**
 * A button, or nothing without the right. The server checks the right again.
 *
 * @param {{ verbs: string[] }} rights
 * @param {Action} action
 */
export function actionButton(rights, action) {
  const { verb, text, label, confirm, fields, isDangerous, after = refresh } = action;
  if (!rights.verbs.includes(verb)) return null;
  const run = async (/** @type {Record<string, string>} */ values) => {
    const answer = await write(verb, action.body(values));
    await after(answer);
    announce(action.done(answer));
  };
  const button = el('button', {
    type: 'button',
    class: isDangerous && 'danger',
    'aria-label': label,
    'data-focus': `${verb} ${label ?? text}`,
    onclick: async () => {
      if (confirm !== undefined || fields) {
        ask({ title: confirm ?? text, fields, content: action.content, submit: text, isDangerous, act: run });
        return;
      }
      button.disabled = true;
      await run({}).catch(announceError);
      button.disabled = false;
    },
  });
  button.append(text);
  return button;
}

/**
 * The button that pauses something or, if it is paused, resumes it.
 *
 * @param {{ verbs: string[] }} rights
 * @param {boolean} isPaused
 * @param {object} target
 * @param {string} target.name as in the name of the button
 * @param {'' | '-group' | '-schedule'} [target.suffix] of the verbs
 * @param {object} target.body
 * @param {(past: string) => string} target.done
 */
export function toggleButton(rights, isPaused, { name, suffix = '', body, done }) {
  const verb = isPaused ? 'resume' : 'pause';
  const text = isPaused ? 'Resume' : 'Pause';
  return actionButton(rights, {
    verb: `${verb}${suffix}`,
    text,
    label: `${text} ${name}`,
    body: () => body,
    done: () => done(`${verb}d`),
  });
}
