import { messageOf } from './announce.js';
import { auditPage } from './audit-page.js';
import { deadPage } from './dead-page.js';
import { isAsking } from './dialog.js';
import { el, hashOf, replace } from './dom.js';
import { flowPage } from './flow-page.js';
import { jobPage } from './job-page.js';
import { jobsPage } from './jobs-page.js';
import { startLive } from './live.js';
import { paramsOf } from './page.js';
import { peoplePage } from './people-page.js';
import { queuePage } from './queue-page.js';
import { queuesPage } from './queues-page.js';
import { onRefresh } from './refresh.js';
import { rightsFor } from './rights.js';
import { schedulesPage } from './schedules-page.js';
import { subscriptionsPage } from './subscriptions-page.js';
import { workersPage } from './workers-page.js';

/** @type {Record<string, import('./page.js').Page>} */
const PAGES = {
  queues: { title: () => 'Queues', draw: queuesPage },
  queue: { title: ({ queue }) => `Queue ${queue}`, draw: queuePage },
  jobs: { title: ({ queue }) => (queue ? `Jobs of ${queue}` : 'Jobs'), draw: jobsPage },
  job: { title: ({ id }) => `Job ${id}`, draw: jobPage },
  dead: { title: ({ queue }) => (queue ? `Dead jobs of ${queue}` : 'Dead jobs'), draw: deadPage },
  people: { title: () => 'Work of people', draw: peoplePage },
  schedules: { title: () => 'Schedules', draw: schedulesPage },
  flow: { title: ({ id }) => (id ? `Flow ${id}` : 'Flows'), draw: flowPage },
  workers: { title: () => 'Workers', draw: workersPage },
  subscriptions: { title: () => 'Subscriptions', draw: subscriptionsPage },
  audit: { title: ({ queue }) => (queue ? `Audit of ${queue}` : 'Audit'), draw: auditPage },
};

const NAVIGATION = [
  ['queues', 'Queues'],
  ['jobs', 'Jobs'],
  ['dead', 'Dead'],
  ['people', 'People'],
  ['schedules', 'Schedules'],
  ['flow', 'Flows'],
  ['workers', 'Workers'],
  ['subscriptions', 'Subscriptions'],
  ['audit', 'Audit'],
];

const CONNECTIONS = {
  connecting: 'Connecting',
  live: '● Live',
  polling: '◐ Every 5 seconds',
  lost: '✗ Connection lost',
  outage: '✗ Database away',
};

const main = byId('main');
const body = el('div', { class: 'page' });
/** @type {Date | undefined} */
let updatedAt;
/** @type {import('./page.js').Page | undefined} */
let page;
/** The drawing that shows its result; older ones are too late. */
let drawing = 0;

/** @param {any[]} [queues] given: this is an update of the page that is open */
async function redraw(queues) {
  const current = page;
  const mine = ++drawing;
  if (!current) return;
  // A person may have begun to type since this update began.
  const isLate = () => mine !== drawing || (queues && isBusy());
  try {
    const nodes = await current.draw({ params: paramsOf(), queues });
    if (!isLate()) replace(body, ...nodes);
  } catch (error) {
    if (!isLate()) replace(body, el('p', { class: 'problem', role: 'alert' }, messageOf(error)));
  }
}

async function open() {
  const name = /^#\/(\w+)/.exec(location.hash)?.[1] ?? 'queues';
  page = Object.hasOwn(PAGES, name) ? PAGES[name] : PAGES.queues;
  const title = page.title(paramsOf());
  document.title = `${title} – Queues`;
  drawNavigation(name);
  const heading = el('h1', { tabindex: '-1' }, title);
  body.replaceChildren(el('p', {}, 'Loading'));
  main.replaceChildren(heading, body);
  // Screen readers read the title of the new page, and the next Tab starts there.
  heading.focus();
  await redraw();
}

/** @param {string} name */
function drawNavigation(name) {
  const links = NAVIGATION.map(([target, text]) =>
    el('li', {}, el('a', { href: hashOf(target), 'aria-current': target === name && 'page' }, text)),
  );
  byId('nav').replaceChildren(el('ul', {}, links));
}

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** An update must not take away a selection, a text that a person types, or an open dialog. */
function isBusy() {
  const focused = document.activeElement;
  const isTyping = focused instanceof HTMLInputElement || focused instanceof HTMLSelectElement;
  const hasSelection = main.querySelector('input[type=checkbox]:checked, form[data-changed]') !== null;
  return isTyping || hasSelection || isAsking();
}

async function showRights() {
  const { isReadOnly, user } = await rightsFor().catch(() => ({ isReadOnly: false, user: null }));
  const texts = [isReadOnly ? 'Read-only' : '', user ?? ''].filter(Boolean);
  if (texts.length > 0) byId('nav').after(el('p', { class: 'rights' }, texts.join(' · ')));
}

startLive(
  (latest) => {
    updatedAt = new Date();
    if (!isBusy()) void redraw(latest);
  },
  (state) => {
    byId('connection').textContent = CONNECTIONS[state];
    byId('connection').dataset.state = state;
    const lost = byId('lost');
    const isLost = state === 'lost' || state === 'outage';
    const since = updatedAt ? `This page shows the state of ${updatedAt.toLocaleTimeString()}.` : '';
    lost.textContent = isLost ? `${CONNECTIONS[state].slice(2)}. ${since} Trying again.` : '';
    lost.hidden = !isLost;
  },
);
onRefresh(() => redraw());
addEventListener('hashchange', () => void open());
// The hash names the page, so the link must not change it.
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
void showRights();
void open();
