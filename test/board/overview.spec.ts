import Database from 'better-sqlite3';
import { freshConnection } from './support/board-app.js';
import { useBrowser } from './support/board-browser.js';

describe('the overview of the board', () => {
  const { start } = useBrowser();

  it('has the verdict of the server: the problems, their start and the buttons that help', async () => {
    const { board, admin, producer } = await start({ board: { user: () => 'ann' } });
    await producer.enqueueMany('legacy', [{ payload: 1 }, { payload: 2 }]);
    await producer.enqueue('invoice', 1);
    await admin.as('ann').pause('invoice');
    const window = await board('');
    const { page } = window;
    const card = (queue: string) => page.getByRole('article').filter({ has: page.getByRole('link', { name: queue }) });

    await page.getByRole('heading', { level: 1, name: '1 queue is broken, 1 more needs attention' }).waitFor();
    const [first] = await admin.problems();
    const legacy = await card('legacy').innerText();
    const paused = await card('invoice').innerText();
    const title = await page.title();
    const titleOfPaused = await card('invoice').getByRole('heading').innerText();
    await card('legacy').getByRole('link', { name: 'See the workers' }).click();
    await page.getByRole('heading', { level: 1, name: 'Workers of legacy' }).waitFor();
    await page.getByText('No worker serves legacy').waitFor();
    await page.getByRole('link', { name: 'All workers' }).click();
    await page.getByText('No worker runs').waitFor();
    await page.goBack();
    await page.goBack();
    await card('invoice').getByRole('button', { name: 'Resume invoice' }).click();
    await window.announced('Queue invoice is resumed.');
    await window.button('Undo').click();
    await window.announced('Queue invoice is paused.');
    await card('legacy').getByRole('link', { name: 'See its jobs' }).click();
    await page.getByRole('heading', { name: 'Jobs of legacy' }).waitFor();

    expect(first!.message).toMatch(/^No worker serves queue "legacy": 2 jobs wait/);
    expect(legacy).toContain('No worker serves queue "legacy": 2 jobs wait');
    expect(legacy).toMatch(/since (\d+ \w+, )?\d\d:\d\d/);
    expect(paused).toContain('Queue "invoice" is paused by ann');
    expect(titleOfPaused).toBe('Paused by ann');
    expect(title).toBe('(1) Overview – Queues');
    expect(await admin.queues()).toMatchObject([{ queue: 'invoice', paused: true }, { queue: 'legacy' }]);
  });

  it('is healthy without problems, and says that the state is unknown when the connection is lost', async () => {
    const { board, producer, runner, close } = await start();
    await runner.handle('email', {}, () => undefined);
    await producer.enqueue('email', 1);
    await runner.whenIdle();
    const window = await board('');
    const { page } = window;

    await page.getByRole('heading', { level: 1, name: 'The queue is healthy' }).waitFor();
    await close();
    await page.getByRole('heading', { level: 1, name: /^The state is unknown since (\d+ \w+, )?\d\d:\d\d/ }).waitFor();
    // The browser reports each request that the server does not answer.
    window.problems.splice(0);
  });

  it('says which queues are disabled by their settings, and so does the page of the queue', async () => {
    const { board, admin, producer, runner } = await start();
    for (const queue of ['always', 'later', 'never']) {
      await runner.handle(queue, {}, () => undefined);
      await producer.enqueue(queue, 1);
    }
    await runner.whenIdle();
    const at = new Date().getUTCHours();
    const hour = (from: number) => `${String((at + from) % 24).padStart(2, '0')}:30`;
    await admin.configure('never', { enabled: false });
    await admin.configure('later', { enabled: { from: hour(2), to: hour(4) } });
    await producer.enqueue('never', 2);
    const window = await board('');
    const { page } = window;

    await window
      .row('later')
      .getByText(`disabled until ${hour(2)}`)
      .waitFor();
    await window.row('never').getByText('disabled', { exact: true }).waitFor();
    const always = await window.row('always').innerText();
    for (const [queue, text] of [
      ['never', 'disabled'],
      ['later', `disabled until ${hour(2)}`],
    ] as const) {
      await window.go(`queue?queue=${queue}`);
      await page.locator('.page-head .pill').getByText(text, { exact: true }).waitFor();
    }

    expect(always).not.toContain('disabled');
  });

  it('lists the checks of the database with their ways out, and reads them once per visit and on demand', async () => {
    const connection = await freshConnection();
    const { board, producer, runner } = await start({ connection });
    const database = new Database(connection.database);
    await runner.handle('email', {}, () => undefined);
    await producer.enqueue('email', 1);
    await runner.whenIdle();
    database.exec('DROP INDEX sql_queue_steps_signal');
    const window = await board(undefined);
    const { page } = window;
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/api/diagnoses') && asked.push(request.url()));
    const title = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

    await window.go('');
    await title('1 problem needs attention');
    const verdict = await page.locator('.verdict p').innerText();
    const finding = await page.getByRole('listitem').filter({ hasText: 'sql_queue_steps' }).innerText();
    await producer.enqueue('later', 1, { delay: '1h' });
    await window.row('later').waitFor();
    await window.button('Pause later').click();
    await window.announced('Queue later is paused.');
    const whileOpen = asked.length;
    database.exec(/CREATE INDEX [^;]+/.exec(finding)![0]);
    database.close();
    await window.button('Check again').click();
    await title('All 2 queues are healthy');
    await page.getByText('with its columns, keys and indexes').waitFor();

    expect(verdict).toContain('The check “tables” of the database: sql_queue_steps: the index sql_queue_steps_signal');
    expect([whileOpen, asked.length]).toEqual([1, 2]);
  });

  it('neither shows nor reads the checks of the database for a viewer without the right', async () => {
    const { board, producer, read } = await start({ board: { can: (_, __, queue) => queue !== undefined } });
    await producer.enqueue('email', 1);
    const window = await board(undefined);
    const asked: string[] = [];
    window.page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1)!));

    await window.go('');
    await window.row('email').waitFor();
    await window.button('Pause email').click();
    await window.announced('Queue email is paused.');
    const shown = await window.page.getByText('Checks of the database').count();
    const refused = await read('diagnoses');
    // The page reads the list of workers without asking for the right, and goes on with that until the end of the test.
    window.problems.splice(0);

    expect(asked).toContain('rights');
    expect(asked).not.toContain('diagnoses');
    expect(shown).toBe(0);
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  it('finds queues, pages, jobs and actions by the keyboard', async () => {
    const { board, producer, admin } = await start();
    await producer.enqueue('email', 1);
    await producer.enqueue('report', 2);
    const window = await board('');
    const { page } = window;
    const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

    await window.row('email').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('rep');
    await window.row('email').waitFor({ state: 'detached' });
    const filtered = page.url();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await heading('report #2');
    for (const [text, found, url] of [
      ['key:order-7', 'Jobs with the key order-7', 'key=order-7'],
      ['group:acme', 'Jobs with the group acme', 'group=acme'],
      ['owner: ann', 'Jobs with the owner ann', 'owner=ann'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      await page.getByRole('option', { name: found }).waitFor();
      expect(await page.getByRole('option').allInnerTexts()).toEqual([expect.stringContaining(found)]);
      await page.keyboard.press('Enter');
      await heading('Jobs');
      expect(page.url()).toContain(url);
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.type('pause email');
    await page.keyboard.press('Enter');
    await window.announced('Queue email is paused.');
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    await heading('Jobs');
    await window.row('report').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.keyboard.press('Enter');
    await heading('report #2');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();

    expect(filtered).toContain('find=rep');
    expect(await admin.queues()).toMatchObject([{ queue: 'email', paused: true }, { queue: 'report' }]);
  });

  it('keeps a search open that begins before the browser has reported the end of the last one', async () => {
    const { board } = await start();
    const { page } = await board('');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('key:order-7');
    await page.getByRole('option', { name: 'Jobs with the key order-7' }).waitFor();
    // Both keys arrive before the browser does anything else.
    await page.evaluate(`
      for (const key of [{ key: 'Enter' }, { key: 'k', ctrlKey: true }])
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { ...key, bubbles: true }));
    `);
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.keyboard.type('group:acme');

    await page.getByRole('option', { name: 'Jobs with the group acme' }).waitFor();
  });
});
