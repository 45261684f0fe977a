import { onTestFinished } from 'vitest';
import { DataSource } from 'typeorm';
import { eventually } from '../support/eventually.js';
import { freshConnection } from './support/board-app.js';
import { useBrowser } from './support/board-browser.js';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACE_PARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

describe('the page of a job', () => {
  const { start } = useBrowser();

  it('links the schedule and the group of the job', async () => {
    const { board, schedules, producer } = await start({ queues: { report: { groups: {} } } });
    await schedules.upsert('nightly', { queue: 'report', every: '1d' });
    await schedules.upsert('hourly', { queue: 'report', every: '1h' });
    const id = await schedules.runNow('nightly');
    const grouped = await producer.enqueue('report', 1, { group: 'acme' });
    const window = await board(`job?id=${id}`);
    const { page } = window;

    await page.getByRole('link', { name: 'nightly', exact: true }).click();
    await window.row('nightly').waitFor();
    const rows = await page.getByRole('row').allInnerTexts();
    await page.getByRole('link', { name: 'All schedules' }).click();
    await window.row('hourly').waitFor();
    await window.go('schedules?name=gone');
    await page.getByText('There is no schedule "gone"').waitFor();
    await window.go(`job?id=${grouped.id}`);
    const target = await page.getByRole('link', { name: 'acme', exact: true }).getAttribute('href');

    expect(target).toBe('#/jobs?queue=report&group=acme');
    expect(rows.join()).not.toContain('hourly');
  });

  it('shows the trace id of the job, and hides it without the right to payloads', async () => {
    const { board, read, producer } = await start();
    const { read: readClosed, producer: other } = await start({
      board: { can: (_request, verb) => verb !== 'read-payload' },
    });
    const { id } = await producer.enqueue('email', 1, { headers: { traceparent: TRACE_PARENT } });
    const { id: hidden } = await other.enqueue('email', 1, { headers: { traceparent: TRACE_PARENT } });
    const { page } = await board(`job?id=${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);

    await page.getByRole('button', { name: 'Copy the trace id' }).click();

    await eventually(async () => (await page.evaluate('navigator.clipboard.readText()')) === TRACE_ID);
    expect((await read(`job?id=${id}`)).body).toMatchObject({ traceId: TRACE_ID });
    expect((await readClosed(`job?id=${hidden}`)).body).toMatchObject({ isHidden: true, traceId: null });
  });

  it('shows the newest log lines first, pages to older ones, and keeps lines of runs that left no error', async () => {
    const { board, producer, runner } = await start();
    await runner.handle('order', {}, async (job) => {
      for (let n = 1; n <= 250; n++) job.log(`line ${n} of the first run`);
      await job.waitFor('approval', { key: 'order:1', timeout: '7d' });
      job.log('the last line');
    });
    const { id } = await producer.enqueue('order', 1);
    await runner.whenIdle();
    const window = await board(`job?id=${id}`);
    const { page } = window;
    const others = page.getByRole('table', { name: 'Log of other runs' });
    await others.getByText('line 250 of', { exact: false }).waitFor();

    const before = await page.locator('main').innerText();
    await window.button('Show older lines').click();
    await others.getByText('line 1 of', { exact: false }).waitFor();
    const rows = await others.getByRole('row').allInnerTexts();
    await producer.signal('approval', 'order:1');
    const last = page.getByRole('table', { name: 'Log of attempt 1' });
    await last.getByText('the last line').waitFor();

    expect(before).toContain('The newest 200 log lines of 250');
    expect(before).not.toContain('line 50 of');
    expect(rows).toHaveLength(250);
    expect(rows[0]).toContain('line 1 of');
  });

  it('has the log lines of a run whose completion took long', async () => {
    const connection = await freshConnection();
    const { board, producer, runner } = await start({ connection });
    const database = await new DataSource(connection).initialize();
    onTestFinished(() => database.destroy());
    await runner.handle('order', {}, (job) => job.log('the only line'));
    const { id } = await producer.enqueue('order', 1);
    await runner.whenIdle();
    await database.query('UPDATE sql_queue_history SET started_at = started_at + 500, finished_at = finished_at + 500');

    const { page } = await board(`job?id=${id}`);
    await page.getByRole('table', { name: 'Log of attempt 1' }).getByText('the only line').waitFor();

    expect(await page.getByRole('table', { name: 'Log of other runs' }).count()).toBe(0);
  });

  it('shows all steps of a job page by page', async () => {
    const { board, producer, runner } = await start();
    await runner.handle('order', {}, async (job) => {
      for (let n = 100; n < 350; n++) await job.step(`step${n}`, () => Promise.resolve(n));
    });
    const { id } = await producer.enqueue('order', 1);
    await runner.whenIdle();
    const window = await board(`job?id=${id}`);
    const { page } = window;

    await page.getByText('The first 100 steps').waitFor();
    await window.button('Show more steps').click();
    await page.getByText('The first 200 steps').waitFor();
    await window.button('Show more steps').click();
    await page.getByText('step349').waitFor();

    expect(await page.locator('.steps > li').count()).toBe(250);
    expect(await window.button('Show more steps').count()).toBe(0);
  });

  it('has the sleeps and the waits for signals in the life of a job', async () => {
    const { board, producer, runner } = await start();
    await runner.handle('order', {}, async (job) => {
      await job.sleep('nap', '1s');
      await job.waitFor('approval', { key: 'order:1', timeout: '7d' });
    });
    await runner.handle('night', {}, (job) => job.sleep('night', '8h'));
    const { id } = await producer.enqueue('order', 1);
    const { id: asleep } = await producer.enqueue('night', 1);
    const window = await board(`job?id=${id}`);
    const { page } = window;
    const life = page.getByRole('list', { name: 'Life of the job' });
    const parts = () => life.getByRole('listitem').allInnerTexts();

    await life.getByText('Signal approval').waitFor();
    const waiting = await parts();
    await producer.signal('approval', 'order:1');
    await page.locator('.pill').getByText('completed').waitFor();
    await life.getByText('Attempt 1').waitFor();
    // The steps are a read of their own.
    await page.locator('.steps > li').filter({ hasText: 'approval' }).getByText('done').waitFor();
    const completed = await parts();
    await window.go(`job?id=${asleep}`);
    await life.getByText('Sleep night').waitFor();

    expect(waiting[0]).toMatch(/Sleep nap\s+until (\d+ \w+, )?\d\d:\d\d:\d\d/);
    expect(waiting.filter((part) => /Signal approval\s+until \d/.test(part))).toHaveLength(1);
    expect(completed.map((part) => /(Sleep|Signal|Attempt) \w+/.exec(part)?.[0]).filter(Boolean)).toEqual([
      'Sleep nap',
      'Signal approval',
      'Attempt 1',
    ]);
  });

  it('lists the parents and children of a job, counts the others, and names none that may not be read', async () => {
    const { board, read, producer } = await start({ board: { can: (_request, _verb, queue) => queue !== 'closed' } });
    const flow = await producer.flow((f) => {
      const parts = f.addMany('part', Array(25).fill(0));
      f.add('closed', 1, { after: f.add('join', 1, { after: parts }) });
    });
    const join = flow.jobs.find(({ queue }) => queue === 'join')!;
    const part = flow.jobs.find(({ queue }) => queue === 'part')!;
    const { page } = await board(`job?id=${join.id}`);
    const children = page.getByRole('list', { name: 'It waits for children' });

    const more = children.getByRole('link', { name: 'and 5 more' });
    const target = await more.getAttribute('href');
    const links = await children.getByRole('link').count();
    await children.getByRole('link', { name: `#${part.id}`, exact: true }).click();
    await page.getByRole('list', { name: 'Parents wait for it' }).getByText('join').waitFor();
    const { body } = await read(`relatives?id=${join.id}`);

    expect(target).toBe(`#/flow?id=${flow.id}`);
    expect(links).toBe(21);
    expect(body.parents).toEqual({ jobs: [], count: 1, atLeast: false });
  });

  it.each([
    ['steps', 'The steps'],
    ['logs', 'The log'],
    ['explain', 'Why is it not running?'],
  ])('shows a failed read of %s in its place, and reads again on demand', async (name, place) => {
    const { board, producer, runner } = await start();
    await runner.handle('order', {}, async (job) => {
      job.log('before the wait');
      await job.waitFor('approval', { key: 'order:1', timeout: '7d' });
    });
    const { id } = await producer.enqueue('order', 1);
    await runner.whenIdle();
    const window = await board('overview');
    const { page } = window;
    // No update reads again before the button does.
    await window.button('Pause the updates').click();
    await window.connection('paused').waitFor();
    await page.route(`**/api/${name}?*`, (route) =>
      route.fulfill({ status: 503, contentType: 'application/json', body: '{"message":"The database is away."}' }),
    );

    await window.go(`job?id=${id}`);
    const card = page.locator('section', { hasText: place }).filter({ has: page.getByRole('alert') });
    await card.getByText('The database is away.').waitFor();
    await page.getByRole('heading', { name: 'Payload' }).waitFor();
    await page.unroute(`**/api/${name}?*`);
    await card.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });

    expect(window.problems.splice(0).every((problem) => problem.includes('503'))).toBe(true);
  });
});
