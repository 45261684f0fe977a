import { read } from './api.js';
import { el, facts, link, section } from './dom.js';
import { badge, errorText, moment } from './format.js';
import { jobButtons } from './job-buttons.js';
import { attemptsTimeline } from './job-timeline.js';
import { rightsFor } from './rights.js';

/** @param {import('./page.js').Context} context */
export async function jobPage({ params }) {
  const job = await read('job', { id: params.id });
  const rights = await rightsFor(job.queue);
  const logs = rights.verbs.includes('read-payload') ? await read('logs', { id: job.id, after: params.after }) : null;
  return [
    el('p', { class: 'buttons' }, jobButtons(rights, job)),
    fields(job),
    ...(job.error ? [section('Error', el('p', { class: 'error-text' }, errorText(job.error)), stack(job.error))] : []),
    section('Attempts', attemptsTimeline(job)),
    ...(job.isHidden
      ? [el('p', {}, 'Payload, headers, result, progress, log lines and stack: you have no right to read them.')]
      : [
          value('Progress', job.progress),
          value('Payload', job.payload),
          value('Result', job.result),
          value('Headers', job.headers),
        ]),
    ...(logs ? [section('Log', logLines(job.id, logs))] : []),
  ].filter((node) => node !== null);
}

/** @param {any} job */
function fields(job) {
  const { id, queue, name, state, priority, key, group, attempt, maxAttempts, worker, owner } = job;
  return facts([
    ['State', badge(state)],
    ['Queue', link(queue, 'queue', { queue })],
    ['Name', name],
    ['Attempt', `${attempt}${maxAttempts ? ` of ${maxAttempts}` : ''}`],
    ['Priority', String(priority)],
    ['Key', key],
    ['Group', group],
    ['Owner', owner === null ? null : link(owner, 'people', { owner })],
    ['Worker', worker === null ? null : link(worker, 'jobs', { worker, state: state === 'active' ? state : '' })],
    ['Enqueued', moment(job.createdAt)],
    ['Due', moment(job.runAt)],
    ['Was due', moment(job.dueAt)],
    ['Started', moment(job.startedAt)],
    ['Ended', moment(job.finishedAt)],
    ['Id', String(id)],
  ]);
}

/**
 * @param {string} title
 * @param {{ text: string, bytes: number, isCut: boolean, isRedacted: boolean } | null} shown
 */
function value(title, shown) {
  if (!shown || shown.text === '{}') return null;
  const notes = [
    shown.isRedacted && 'Secrets are hidden.',
    shown.isCut && `The first 16 kB of ${shown.bytes.toLocaleString('en')} bytes.`,
  ].filter(Boolean);
  return section(title, notes.length > 0 && el('p', {}, el('small', {}, notes.join(' '))), code(title, shown.text));
}

/** @param {{ stack?: string }} error */
function stack({ stack }) {
  return stack ? el('details', {}, el('summary', { 'data-focus': 'stack' }, 'Stack'), code('Stack', stack)) : null;
}

/**
 * @param {number} id
 * @param {{ lines: any[], next: string | null }} page
 */
function logLines(id, { lines, next }) {
  if (lines.length === 0) return el('p', { class: 'empty' }, 'No lines.');
  const text = lines.map(({ number, at, line }) => `${number}  ${at.slice(11, 23)}  ${line}`).join('\n');
  return el('div', {}, code('Log', text), next && el('p', {}, link('Later lines', 'job', { id, after: next })));
}

/**
 * @param {string} label
 * @param {string} text
 */
function code(label, text) {
  // With the focus, the keyboard scrolls a long text.
  return el('pre', { tabindex: '0', role: 'region', 'aria-label': label }, text);
}
