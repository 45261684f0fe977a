import { onTestFinished } from 'vitest';
import { DataSource } from 'typeorm';
import { freshConnection } from './support/board-app.js';
import { useBrowser } from './support/board-browser.js';
import { silentStreams } from './support/silent-streams.js';

const FOCUSED = `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`;

/** `source` is the stream of the page. */
const KEPT_STREAM = `
  const Source = EventSource;
  EventSource = class extends Source {
    constructor(to) {
      super(to);
      globalThis.source = this;
    }
  };`;
const NEXT_UPDATE = `new Promise((done) => source.addEventListener('queues', ({ data }) => done(data), { once: true }))`;

describe('a live update of the board', () => {
  const { start } = useBrowser();

  it('keeps an open attempt, an open part of a payload, the focus and the scroll position', async () => {
    const { board, producer, runner, admin } = await start();
    const stop = await runner.handle('email', { retry: { attempts: 2, backoff: 0 } }, (job) => {
      job.log(`line of attempt ${job.attempt}`);
      throw new Error('no');
    });
    const payload = { lines: { deep: { deeper: ['found'] } }, text: 'x\n'.repeat(200) };
    const { id } = await producer.enqueue('email', payload);
    await runner.whenIdle();
    await stop();
    const window = await board(`job?id=${id}`);
    const { page } = window;
    const first = page.getByRole('button', { name: /^Attempt 1 failed/ });
    const folded = page.getByRole('button', { name: /^deep:/ });

    await first.click();
    await page.getByText('line of attempt 1').waitFor();
    await folded.click();
    await folded.focus();
    await page.evaluate('scrollTo(0, 120)');
    await admin.retry(id);
    await page.locator('.pill').getByText('waiting').waitFor();

    expect(await first.getAttribute('aria-expanded')).toBe('true');
    expect(await folded.getAttribute('aria-expanded')).toBe('true');
    expect(await page.evaluate(FOCUSED)).toMatch(/^deep/);
    expect(await page.evaluate('scrollY')).toBe(120);
  });

  it('keeps the rows of a list in their places, and says how many newer jobs there are', async () => {
    const { board, producer, admin } = await start();
    await producer.enqueueMany('email', [
      { payload: 1, options: { delay: '1h' } },
      { payload: 2, options: { delay: '1h' } },
    ]);
    const window = await board('jobs?queue=email');
    const { page } = window;
    const ids = () => page.locator('tbody .job-link').allInnerTexts();

    await page.getByLabel('Select job 1', { exact: true }).check();
    await admin.promote(2);
    await producer.enqueue('email', 3);
    await page.getByRole('button', { name: 'Show 1 newer job' }).waitFor();
    const before = await ids();
    const states = await page.locator('tbody .c-state').allInnerTexts();
    const isChecked = await page.getByLabel('Select job 1', { exact: true }).isChecked();
    await page.getByRole('button', { name: 'Show 1 newer job' }).click();

    expect([before, states]).toEqual([
      ['#2', '#1'],
      ['waiting', 'scheduled'],
    ]);
    expect(isChecked).toBe(true);
    expect(await ids()).toEqual(['#3', '#2', '#1']);
  });

  it('marks and counts the rows that have left the filter, until the viewer asks for the others', async () => {
    const { board, producer, admin } = await start();
    const delayed = (payload: number) => ({ payload, options: { delay: '1h' as const } });
    await producer.enqueueMany(
      'email',
      Array.from({ length: 52 }, (_, n) => delayed(n)),
    );
    const window = await board('jobs?queue=email&state=scheduled&order=oldest');
    const { page } = window;
    const rowOf = (id: number) => page.locator('tbody tr').filter({ has: page.getByText(`#${id}`, { exact: true }) });

    await rowOf(1).waitFor();
    await admin.promote(1);
    await admin.remove([2]);
    await page.getByText('2 jobs left the filter').waitFor();
    const [first, second] = [await rowOf(1).innerText(), await rowOf(2).innerText()];
    const rows = await page.locator('tbody tr').count();
    const marked = await page.locator('tbody tr.left').count();
    await page.getByRole('button', { name: 'Show 2 newer jobs' }).click();
    await rowOf(52).waitFor();

    expect([first, second]).toEqual([expect.stringContaining('now waiting'), expect.stringContaining('now removed')]);
    expect([rows, marked]).toEqual([50, 2]);
    expect([await rowOf(1).count(), await page.locator('tbody tr.left').count()]).toEqual([0, 0]);
    expect(await page.getByText('left the filter').count()).toBe(0);
  });

  it('counts jobs that move up from the next page as others, not as newer ones', async () => {
    const { board, producer, admin } = await start();
    await producer.enqueueMany(
      'email',
      Array.from({ length: 52 }, (_, n) => ({ payload: n })),
    );
    const window = await board('jobs?queue=email&state=waiting');

    await admin.cancel(52);
    await window.button('Show 1 other job').waitFor();
    await producer.enqueueMany(
      'email',
      Array.from({ length: 60 }, (_, n) => ({ payload: n })),
    );
    await window.button('Show 50+ newer jobs').waitFor();
  });

  it('counts jobs beside the states only if the numbers are those of the filter', async () => {
    const { board, producer } = await start();
    await producer.enqueueMany('email', [{ payload: 1, options: { name: 'late' } }, { payload: 2 }]);
    const window = await board('jobs?queue=email');
    const tab = window.page.getByRole('navigation', { name: 'State' }).getByRole('link', { name: /^waiting/ });

    await tab.getByText('2', { exact: true }).waitFor();
    await window.go('jobs?queue=email&name=late');
    await window.row('late').waitFor();

    expect(await tab.innerText()).toBe('waiting');
  });

  it('keeps a dialog with the text that a person types, and a filter that is not sent', async () => {
    const { board, producer } = await start();
    await producer.enqueue('email', { to: 'ann' }, { delay: '1h' });
    const window = await board('job?id=1');
    const { page } = window;

    await window.pressMore('Payload …');
    await page.getByLabel('Payload as JSON').fill('{"to":"bob"}');
    await waitForUpdate();
    const typed = await page.getByLabel('Payload as JSON').inputValue();
    await window.confirm('Keep as it is');
    await window.go('people');
    await page.getByLabel('Owner', { exact: true }).fill('an');
    await waitForUpdate();

    expect(typed).toBe('{"to":"bob"}');
    expect(await page.getByLabel('Owner', { exact: true }).inputValue()).toBe('an');
    expect(await page.evaluate(`document.activeElement.getAttribute('name')`)).toBe('owner');

    /** The next answer of the page that is open has arrived, and the page has drawn it. */
    async function waitForUpdate(): Promise<void> {
      await (await page.waitForResponse(/\/api\/jobs?\?/)).finished();
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    }
  });

  it('shows the age of an old sample, and what the database says about the silence of workers', async () => {
    const { connection, sql } = await sharedFile();
    const { url, board, admin, producer, runner } = await start({ connection });
    await runner.handle('email', {}, () => undefined);
    await runner.whenIdle();
    await producer.enqueue('report', 1);
    await admin.stats();
    // A sample that takes so long is kept for fifty times as long.
    await sql('UPDATE sql_queue_stats SET sampled_at = sampled_at - 40000, took_ms = 600000');
    const window = await board(undefined);
    const { page } = window;
    // The clock of the browser says nothing about the worker.
    await page.clock.install({ time: Date.now() + 600_000 });

    await page.goto(`${url}#/workers`);
    await window
      .connection('live')
      .getByText(/^Live · ([45]\d s|[1-5](\.\d)? min) ago$/)
      .waitFor();
    await page.getByText('alive').waitFor();
    const text = await page.locator('main').innerText();
    await sql('UPDATE sql_queue_stats SET sampled_at = sampled_at - 300000');
    await window.go('');
    await page.getByRole('heading', { level: 1, name: /^The state is unknown since/ }).waitFor();

    expect(text).not.toContain('silent');
  });

  it('has no good verdict without the problems, or while the updates are paused', async () => {
    const { board, producer, runner } = await start();
    await runner.handle('email', {}, () => undefined);
    await producer.enqueue('email', 1);
    await runner.whenIdle();
    const window = await board('');
    const { page } = window;
    const verdict = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

    await verdict('The queue is healthy');
    await window.button('Pause the updates').first().click();
    await verdict(/^The state of (\d+ \w+, )?\d\d:\d\d/);
    await page.route('**/api/problems', (route) => route.fulfill({ status: 403, json: { message: 'No.' } }));
    await window.button('Continue the updates').first().click();
    await verdict('The problems could not be read');
    const text = await page.locator('.verdict').innerText();
    await page.unroute('**/api/problems');
    await verdict('The queue is healthy');
    // The browser reports the refused requests.
    window.problems.splice(0);

    expect(text).toContain('No.');
  });

  it('hides no action from a list that is read seldom, if both happen before the page is drawn', async () => {
    const { url, board, admin, producer } = await start();
    await producer.enqueue('email', 1);
    const window = await board(undefined);
    const { page } = window;
    // Without time, only an action reads the list again.
    await page.clock.setFixedTime(Date.now());
    await page.addInitScript(KEPT_STREAM);
    await page.goto(`${url}#/topics`);
    await page.getByText('No queue has subscribed to a topic').waitFor();
    const data = await page.evaluate<string>(NEXT_UPDATE);

    await window.button('Pause the updates').first().click();
    await admin.subscribe('email', { topic: 'user.*' });
    await page.evaluate(`
      document.querySelector('[aria-label="Continue the updates"]').click();
      source.dispatchEvent(new MessageEvent('queues', { data: ${JSON.stringify(data)} }));`);

    await window.row('user.*').waitFor();
  });

  it('hides no action from a list whose answer comes after further updates', async () => {
    const { url, board, producer } = await start();
    await producer.enqueueMany('email', [
      { payload: 1, options: { delay: '1h' } },
      { payload: 2, options: { delay: '1h' } },
    ]);
    const window = await board(undefined);
    const { page } = window;
    await page.addInitScript(KEPT_STREAM);
    await page.goto(`${url}#/jobs?queue=email`);
    await page.getByLabel('Select job 1', { exact: true }).check();

    await page.getByRole('region', { name: 'Selected jobs' }).getByRole('button', { name: 'Remove …' }).click();
    await page.getByText('Changes 1 job, skips none.').waitFor();
    await page.route('**/api/jobs?*', async (route) => {
      await page.evaluate(NEXT_UPDATE);
      await route.continue();
    });
    await window.confirm('Remove');
    await window.announced('1 jobs removed.');

    await page.locator('tbody .job-link').getByText('#1').waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('comes by requests if the stream stays open without an event', async () => {
    const { url, board, producer } = await start();
    const network = await silentStreams(url);
    await producer.enqueue('email', 1);
    const window = await board(undefined);

    await window.page.goto(network.url);
    await window.connection('live').waitFor();
    await window.row('email').waitFor();
    network.silence();
    await producer.enqueue('report', 1);
    await window.connection('polling').waitFor();
    await window.row('report').waitFor();
  });

  it.each([
    [
      { status: 401, json: { message: 'Unauthorized' } },
      'You are no longer logged in. Reload this page to log in again.',
    ],
    [{ status: 429, json: { message: 'Too many requests.' } }, 'Too many requests.'],
    [{ contentType: 'text/html', body: '<h1>Log in</h1>' }, 'The server answered with another page.'],
  ])('shows the reason if the server answers without statistics: %j', async (answer, reason) => {
    const { board, producer } = await start();
    await producer.enqueue('email', 1);
    const window = await board('');
    const { page } = window;
    await window.row('email').waitFor();

    await page.route('**/api/{live,queues}', (route) => route.fulfill(answer));
    // The page opens its stream again.
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    const alert = page.getByRole('alert').filter({ hasText: reason });
    await alert.getByText('This page shows the state of').waitFor();
    await page.getByRole('heading', { level: 1, name: /^The state is unknown since/ }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await window.connection('polling').waitFor();
    await alert.waitFor({ state: 'detached' });
    // The browser reports the failed requests.
    window.problems.splice(0);
  });

  it('waits while the page is hidden, also after the network was away', async () => {
    const { board, producer } = await start();
    await producer.enqueue('email', 1);
    const window = await board('');
    const { page } = window;
    const turn = (isHidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        dispatchEvent(new Event('visibilitychange'));`);
    const opened: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/live')) opened.push(request.url());
    });

    await turn(true);
    await page.evaluate(`dispatchEvent(new Event('offline')); dispatchEvent(new Event('online'));`);
    // Requests are reported in their order.
    await page.evaluate(`fetch(location.pathname)`);
    const whileHidden = opened.length;
    await turn(false);
    await window.connection('live').waitFor();

    expect([whileHidden, opened.length]).toEqual([0, 1]);
  });

  it('waits while the updates are paused, and the page shows the age of its numbers', async () => {
    const { board, producer } = await start();
    await producer.enqueue('email', 1);
    const window = await board('');
    const { page } = window;
    const waiting = window.row('email').getByRole('cell').nth(2);
    await waiting.getByText('1', { exact: true }).waitFor();

    await window.button('Pause the updates').first().click();
    await producer.enqueue('email', 2);
    await window
      .connection('paused')
      .getByText(/^Paused · ([3-9]|\d\d)(\.\d)? s ago/)
      .waitFor();
    const paused = await waiting.innerText();
    await window.button('Continue the updates').first().click();
    await waiting.getByText('2', { exact: true }).waitFor();

    expect(paused).toBe('1');
    expect(await page.title()).toContain('Overview');
  });
});

/** An SQLite file of an application, and a way to change its rows. */
async function sharedFile() {
  const connection = await freshConnection();
  const dataSource = new DataSource(connection);
  await dataSource.initialize();
  onTestFinished(() => dataSource.destroy());
  return { connection, sql: (statement: string) => dataSource.query(statement) };
}
