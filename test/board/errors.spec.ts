import { useBrowser } from './support/board-browser.js';

describe('the page of errors on the board', () => {
  const { start } = useBrowser();

  it('has retried and dead attempts apart, sorts by each, and shows the course of the range', async () => {
    const { board, producer, countErrors } = await start();
    await producer.enqueue('email', 1);
    await countErrors(
      { queue: 'email', error: 'MANY', failed: 9, dead: 1, jobId: 1 },
      { queue: 'email', error: 'FATAL', failed: 4, dead: 4, jobId: 1, minutesAgo: 30 },
      { queue: 'email', error: 'MANY', failed: 2, jobId: 1, minutesAgo: 300 },
    );
    const window = await board('errors');
    const { page } = window;
    const errors = async () => {
      const rows = await page.locator('.errors-grid tbody tr').all();
      return Promise.all(
        rows.map(async (row) => {
          const texts = await row.getByRole('cell').allInnerTexts();
          return [texts[0]!.split('\n')[0], ...texts.slice(3, 6)];
        }),
      );
    };

    await window.row('FATAL').waitFor();
    const byFailed = await errors();
    await page.getByRole('group', { name: 'Order' }).getByRole('button', { name: 'Died' }).click();
    await page.locator('.errors-grid tbody tr').first().getByText('FATAL').waitFor();
    const byDied = await errors();
    await page.getByRole('columnheader', { name: 'Last hour' }).waitFor();
    await page.getByRole('img', { name: '9 attempts failed in the last hour' }).waitFor();
    await window.button('24 hours').click();
    await page.getByRole('columnheader', { name: 'Last 24 hours' }).waitFor();
    await page.getByRole('img', { name: '11 attempts failed in the last 24 hours' }).waitFor();
    await window.button('30 days').click();
    await page.getByRole('img', { name: '11 attempts failed in the last 30 days' }).waitFor();

    expect(byFailed).toEqual([
      ['MANY', '8', '1', '0'],
      ['FATAL', '0', '4', '0'],
    ]);
    expect(byDied.map(([error]) => error)).toEqual(['FATAL', 'MANY']);
    expect(page.url()).toContain('order=died');
  });

  it('keeps the failed attempts if the dead jobs cannot be read, and says that these are not known', async () => {
    const { url, board, producer, countErrors } = await start();
    await producer.enqueue('email', 1);
    await countErrors({ queue: 'email', error: 'E550', failed: 3, jobId: 1 });
    const window = await board(undefined);
    const { page } = window;

    await page.route('**/api/dead-groups', (route) => route.fulfill({ status: 500, json: { message: 'Broken.' } }));
    await page.goto(`${url}#/errors`);
    await page.getByText('The dead jobs could not be read: Broken.').waitFor();
    const dead = await window.row('E550').getByRole('cell').nth(5).innerText();
    await page.getByText('3 attempts failed in the last hour. The dead jobs are not known.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await window.button('Try again').click();
    await page.getByText('These are all 0 dead jobs.').waitFor();
    const known = await window.row('E550').getByRole('cell').nth(5).innerText();
    // The browser reports the failed requests.
    window.problems.splice(0);

    expect([dead, known]).toEqual(['–', '0']);
  });

  it('names the queues whose dead jobs it has not read, and has them on the page of their errors', async () => {
    const { board, producer, runner } = await start();
    const queues = Array.from({ length: 52 }, (_, n) => `q${String(n).padStart(2, '0')}`);
    for (const queue of queues)
      await runner.handle(queue, {}, () => {
        throw Object.assign(new Error('no'), { code: 'E550' });
      });
    for (const queue of queues)
      await producer.enqueueMany(queue, queue < 'q50' ? [{ payload: 1 }, { payload: 2 }] : [{ payload: 1 }]);
    await runner.whenIdle();
    const window = await board('errors');
    const { page } = window;

    const bound = page.getByText('Only the 50 queues with the most dead jobs were read.');
    await bound.waitFor();
    const text = await bound.innerText();
    await page.getByRole('link', { name: 'q51', exact: true }).last().click();
    await page.getByText('These are all 1 dead jobs.').waitFor();
    const dead = await window.row('E550').getByRole('cell').nth(5).innerText();

    expect(text).toContain(
      'These are 100 dead jobs. Only the 50 queues with the most dead jobs were read. Those of the others: q50, q51.',
    );
    expect(dead).toBe('1');
  });
});
