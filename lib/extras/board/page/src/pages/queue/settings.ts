import type { Queue } from '../../answers.js';
import type { Action } from '../../parts/action.js';
import type { Values } from '../../parts/field.js';
import { numberOr } from '../../parts/limit-fields.js';

export function settingsAction(queue: string): Action {
  return {
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
  };
}

function settingsOf({ concurrency, enabled }: Values): object {
  return {
    ...(concurrency && { concurrency: concurrency === 'options' ? null : numberOr(concurrency) }),
    ...(enabled && { enabled: enabledOf(enabled) }),
  };
}

/** The server reports other texts. */
function enabledOf(text: string): unknown {
  if (text === 'options') return null;
  if (text === 'always' || text === 'never') return text === 'always';
  const [, from, to, tz] = /^(\S+?)\s*-\s*(\S+)(?:\s+(\S+))?$/.exec(text) ?? [];
  return from ? { from, to, ...(tz && { tz }) } : text;
}

export function enabledText(enabled: Queue['settings']['enabled']): string {
  if (enabled === undefined) return 'as in the options';
  if (typeof enabled === 'boolean') return enabled ? 'always' : 'never';
  return `${enabled.from}-${enabled.to} ${enabled.tz ?? 'UTC'}`;
}
