/** @type {import('./dialog.js').Field[]} */
export const LIMIT_FIELDS = [
  { name: 'rate', label: 'Rate', hint: 'Jobs per time, such as 100/1s or 5000/1d, or "none". Empty: as it is.' },
];

/**
 * The change of limits that a form describes.
 *
 * @param {Record<string, string>} values
 * @param {'maxRunning' | 'concurrency'} most the name of the limit of running jobs
 */
export function limitChange(values, most) {
  const { rate, rest, weight } = values;
  return {
    ...(values[most] && { [most]: numberOrNone(values[most]) }),
    ...(rate && { rate: rateOrNone(rate) }),
    ...(rest && { rest: rest === 'none' ? false : rest }),
    ...(weight && { weight: numberOr(weight) }),
  };
}

/** @param {string} text */
function numberOrNone(text) {
  return text === 'none' ? false : numberOr(text);
}

/** @param {string} text the server reports texts that are no number. NaN would become null, which resets a limit. */
export function numberOr(text) {
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** @param {string} text the server reports other texts */
function rateOrNone(text) {
  if (text === 'none') return false;
  const [limit, per] = text.split('/');
  return { limit: numberOr(limit), per: /^[a-z]/.test(per ?? '') ? `1${per}` : per };
}
