import { actionButton } from './action.js';
import { el, facts, section } from './dom.js';
import { moment, number, rateText } from './format.js';
import { numberOr } from './limit-fields.js';

/**
 * The limits and settings of a queue, each with its origin.
 *
 * @param {any} record
 * @param {{ verbs: string[] }} rights
 */
export function settingsSection({ queue, maxRunning, rate, restsUntil, settings }, rights) {
  const { concurrency, enabled } = settings;
  const origin = (/** @type {string} */ name) => (settings[name] === undefined ? ' (options)' : ' (set at run time)');
  return section(
    'Limits and settings',
    facts([
      ['Running in all processes', `${maxRunning === null ? 'no limit' : number(maxRunning)}${origin('maxRunning')}`],
      ['Rate', `${rateText(rate)}${origin('rate')}`],
      [
        'Running in each process',
        concurrency === undefined ? 'as in the options' : `${number(concurrency)}${origin('concurrency')}`,
      ],
      ['Runs jobs', enabled === undefined ? 'as in the options' : `${enabledText(enabled)}${origin('enabled')}`],
      ['Rests until', moment(restsUntil)],
    ]),
    el('p', { class: 'buttons' }, settingsButton(rights, queue)),
  );
}

/** @param {boolean | { from: string, to: string, tz?: string }} enabled */
function enabledText(enabled) {
  if (typeof enabled === 'boolean') return enabled ? 'always' : 'never';
  return `${enabled.from}-${enabled.to} ${enabled.tz ?? 'UTC'}`;
}

/**
 * @param {{ verbs: string[] }} rights
 * @param {string} queue
 */
function settingsButton(rights, queue) {
  return actionButton(rights, {
    verb: 'configure',
    text: 'Settings …',
    confirm: `Settings of ${queue} in all processes`,
    fields: [
      { name: 'concurrency', label: 'Running in each process', hint: 'A number, or "options". Empty: as it is.' },
      {
        name: 'enabled',
        label: 'Runs jobs',
        hint: 'always, never, 08:00-18:00 Europe/Berlin, or "options". Empty: as it is.',
      },
    ],
    body: (values) => ({ queue, settings: settingsOf(values) }),
    done: () => `The settings of ${queue} are changed. Running jobs continue.`,
  });
}

/** @param {Record<string, string>} values */
function settingsOf({ concurrency, enabled }) {
  return {
    ...(concurrency && { concurrency: concurrency === 'options' ? null : numberOr(concurrency) }),
    ...(enabled && { enabled: enabledOf(enabled) }),
  };
}

/** @param {string} text the server reports other texts */
function enabledOf(text) {
  if (text === 'options') return null;
  if (text === 'always' || text === 'never') return text === 'always';
  const [, from, to, tz] = /^(\S+?)\s*-\s*(\S+)(?:\s+(\S+))?$/.exec(text) ?? [];
  return from ? { from, to, ...(tz && { tz }) } : text;
}
