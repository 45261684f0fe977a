import { useBrowser } from './support/board-browser.js';

/** The pages with the requests that fill them, and the title of a list that is empty. */
const LISTS = [
  ['jobs?state=dead', 'jobs?*', 'No jobs'],
  ['errors', 'errors?*', 'No errors'],
  ['flow', 'flows', 'No flows'],
  ['waits', 'waits', 'No job waits for such a signal'],
  ['schedules', 'schedules', 'No schedules'],
  ['workers', 'workers', 'No worker runs'],
  ['people', 'jobs?*', 'No job has an owner'],
  ['topics', 'subscriptions', 'No queue has subscribed to a topic'],
  ['audit', 'audit', 'No changes'],
  ['queue?queue=email', 'errors?queue=email', 'No attempt has failed'],
  ['queue?queue=email', 'workers', 'No worker serves this queue'],
  ['queue?queue=email', 'history?*', ''],
  ['queue?queue=email', 'groups?*', ''],
  ['job?id=1', 'steps?*', ''],
  ['job?id=1', 'explain?*', ''],
] as const;

describe('a read of the board that fails', () => {
  const { start } = useBrowser();

  it.each(LISTS)(
    'is no empty list on the page %s, whose %s fails, and then lacks a right',
    async (hash, path, empty) => {
      const { url, board, producer } = await start();
      await producer.enqueue('email', 1);
      const window = await board(undefined);
      const { page } = window;
      const main = page.locator('main');
      const answer = (status: number, message: string) =>
        page.route(`**/api/${path}`, (route) => route.fulfill({ status, json: { message } }));

      await answer(500, 'The board failed.');
      await page.goto(`${url}#/${hash}`);
      await main.getByRole('alert').filter({ hasText: 'The board failed.' }).first().waitFor();
      const failed = await main.innerText();
      // Else an update could read again before the press on the button.
      await window.button('Pause the updates').first().click();
      await answer(403, 'No right to read.');
      await main.getByRole('button', { name: 'Try again' }).first().click();
      await main.getByText('You have no right to see this').first().waitFor();
      await main.getByText('No right to read.').first().waitFor();
      const refused = await main.innerText();
      const retries = await main.getByRole('button', { name: 'Try again' }).count();
      await page.unrouteAll({ behavior: 'wait' });
      await page.reload();
      if (empty) await main.getByText(empty).first().waitFor();
      // The browser reports the failed requests.
      window.problems.splice(0);

      if (empty) expect(failed + refused).not.toContain(empty);
      expect(retries).toBe(0);
    },
  );

  it('leaves unknown numbers out of the overview', async () => {
    const { url, board, producer } = await start();
    await producer.enqueue('email', 1);
    const window = await board(undefined);
    const { page } = window;
    const numbers = page.locator('.numbers');

    await page.route('**/api/{throughput,workers}', (route) =>
      route.fulfill({ status: 500, json: { message: 'The board failed.' } }),
    );
    await page.goto(`${url}#/`);
    await page.getByRole('heading', { name: 'Throughput' }).waitFor();
    await window.row('email').waitFor();
    const unknown = (await numbers.innerText()).replace(/\s+/g, ' ');
    const row = await window.row('email').getByRole('cell').allInnerTexts();
    const main = await page.locator('main').innerText();
    await page.unrouteAll({ behavior: 'wait' });
    const throughput = page.locator('.card').filter({ has: page.getByRole('heading', { name: 'Throughput' }) });
    await throughput.getByRole('button', { name: 'Try again' }).click();
    await throughput.waitFor({ state: 'detached' });
    const known = (await numbers.innerText()).replace(/\s+/g, ' ');
    window.problems.splice(0);

    expect(unknown).toMatch(/Completed a minute – not known Attempts that fail – not known Waiting jobs 1 /);
    expect(unknown).toMatch(/Workers – not known/);
    expect(row.slice(6, 8)).toEqual(['–', '–']);
    expect(main).toContain('The board failed.');
    expect(known).toMatch(/Completed a minute 0 as in the last hour/);
  });

  it('does not say that there are no queues, if the viewer has no right to read any', async () => {
    let mayRead = false;
    const { board, producer } = await start({ board: { can: () => mayRead } });
    await producer.enqueue('email', 1);
    const window = await board('');
    const { page } = window;

    await page.getByRole('heading', { level: 1, name: 'The state is unknown' }).waitFor();
    const text = await page.locator('main').innerText();
    mayRead = true;
    await page.reload();
    await window.row('email').waitFor();
    // The browser reports the refused list of workers.
    window.problems.splice(0);

    expect(text).toContain('You have no right to read any of the queues');
    expect(text).not.toMatch(/No queue has had a job yet|No queues yet|healthy/);
  });

  it('is a failure, also of a change, if a login page answers, and keeps the last numbers', async () => {
    let isLoggedIn = true;
    const { board, producer, admin } = await start({
      configure: (app) => {
        app.use((request: { path: string }, response: Response, next: () => void) => {
          if (request.path === '/login') response.type('html').send('<h1>Log in</h1>');
          else if (isLoggedIn || request.path.endsWith('/live')) next();
          else response.redirect('/login');
        });
      },
    });
    await producer.enqueue('email', 1);
    const window = await board('queue?queue=email');
    const { page } = window;
    const text = 'The server answered with another page. You may have to log in again: reload this page.';

    await window.button('Pause email').waitFor();
    isLoggedIn = false;
    await window.button('Pause email').click();
    await window.announced(text);
    await page.locator('main').getByRole('alert').filter({ hasText: text }).first().waitFor();
    const jobs = await page.locator('tbody .job-link').allInnerTexts();
    await window.go('');
    const row = await window.row('email').innerText();

    expect(jobs).toEqual(['#1']);
    expect(row).not.toContain('paused');
    expect(await admin.queues()).toMatchObject([{ queue: 'email', paused: false }]);
  });
});

/** The parts of a response of Express that a login page uses. */
interface Response {
  type(name: string): Response;
  send(body: string): void;
  redirect(to: string): void;
}
