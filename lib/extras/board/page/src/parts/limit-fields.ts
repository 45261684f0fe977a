import type { Field, Values } from './field.js';

export const RATE_FIELD: Field = {
  name: 'rate',
  label: 'Rate',
  hint: 'Jobs per time, such as 100/1s or 5000/1d, or "none". Empty: as it is.',
};

/**
 * The change of limits that a form describes.
 *
 * @param most the name of the limit of running jobs
 */
export function limitChange(values: Values, most: 'maxRunning' | 'concurrency'): object {
  const { rate, rest, weight } = values;
  const running = values[most];
  return {
    ...(running && { [most]: running === 'none' ? false : numberOr(running) }),
    ...(rate && { rate: rateOrNone(rate) }),
    ...(rest && { rest: rest === 'none' ? false : rest }),
    ...(weight && { weight: numberOr(weight) }),
  };
}

/** The server reports texts that are no number. NaN would become null, which resets a limit. */
export function numberOr(text: string): number | string {
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The server reports other texts. */
function rateOrNone(text: string): unknown {
  if (text === 'none') return false;
  const [limit = '', per] = text.split('/');
  return { limit: numberOr(limit), per: /^[a-z]/.test(per ?? '') ? `1${per}` : per };
}
