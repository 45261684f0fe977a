import { el } from './dom.js';
import { errorText, moment } from './format.js';

/**
 * The life of a job as a list, oldest first: the errors of all attempts, and the state.
 *
 * @param {any} job
 */
export function attemptsTimeline(job) {
  const failed = job.errors.map((/** @type {any} */ error) =>
    entry(`Attempt ${error.attempt} failed`, error.at, errorText(error), 'dead'),
  );
  const isRunning = job.state === 'active';
  const last = isRunning
    ? entry(
        `Attempt ${job.attempt} runs`,
        job.startedAt,
        job.owner ? `by ${job.owner}` : `in worker ${job.worker}`,
        'active',
      )
    : entry(`Now ${job.state}`, job.finishedAt ?? job.runAt, '', job.state);
  return el('ol', { class: 'timeline' }, entry('Enqueued', job.createdAt, '', 'waiting'), failed, last);
}

/**
 * @param {string} title
 * @param {string | null} at
 * @param {string} text
 * @param {string} state
 */
function entry(title, at, text, state) {
  return el(
    'li',
    { class: state },
    el('strong', {}, title),
    ' ',
    moment(at),
    text && el('p', { class: 'error-text' }, text),
  );
}
