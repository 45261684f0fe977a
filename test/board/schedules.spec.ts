import { Cron } from 'croner';
import { DataSource } from 'typeorm';
import { onTestFinished, vi } from 'vitest';
import { freshConnection } from './support/board-app.js';
import { useBrowser } from './support/board-browser.js';

describe('the schedules on the board', () => {
  const { start } = useBrowser();

  it('have their cron texts and time zones in words, if the words are known', async () => {
    const { board, schedules } = await start();
    const add = (name: string, cron: string, tz: string) => schedules.upsert(name, { queue: 'report', cron, tz });
    await add('a', '0 9 * * MON-FRI', 'Asia/Tokyo');
    await add('b', '30 0 3 L * *', 'UTC');
    await add('c', '0 0 * * 5L', 'America/New_York');
    await add('d', '0 3 1 * +MON', 'UTC');
    await schedules.upsert('e', { queue: 'report', every: '15m' });
    const window = await board('schedules');

    const cells = window.page.locator('td.times-cell');
    await cells.nth(4).waitFor();
    const times = await cells.allInnerTexts();

    expect(times.map((text) => text.split(/\s*\n\s*/))).toEqual([
      [expect.stringContaining('0 9 * * MON-FRI'), 'At 09:00, Monday through Friday, Japan Standard Time'],
      [
        expect.stringContaining('30 0 3 L * *'),
        'At 03:00:30, on the last day of the month, Coordinated Universal Time',
      ],
      [expect.stringContaining('0 0 * * 5L'), 'At 00:00, on the last Friday of the month, Eastern Time'],
      [expect.stringContaining('0 3 1 * +MON')],
      [expect.stringContaining('every 15')],
    ]);
  });

  it('show the last ticks of one of them, with the states of their jobs', async () => {
    const { board, schedules, runner } = await start();
    // No tick comes while the test runs.
    await schedules.upsert('leap', { queue: 'report', cron: '0 3 29 2 *' });
    await schedules.upsert('other', { queue: 'report', cron: '0 3 29 2 *' });
    const stop = await runner.handle('report', {}, () => undefined);
    const finished = await schedules.runNow('leap');
    await runner.whenIdle();
    await stop();
    await schedules.runNow('other');
    const waiting = await schedules.runNow('leap');
    const window = await board('schedules');
    const dialog = window.page.getByRole('dialog');

    await window.button('Next ticks of leap').click();
    const ticks = dialog.getByRole('list', { name: 'Last jobs' }).getByRole('listitem');
    await ticks.first().waitFor();
    const texts = await ticks.allInnerTexts();
    await dialog.getByRole('link', { name: 'All its jobs' }).click();
    await dialog.waitFor({ state: 'detached' });
    await window.page.locator('main[data-view^="#/jobs?"] tbody .job-link').nth(1).waitFor();
    const rows = await window.page.locator('tbody .job-link').allInnerTexts();
    await window.page.getByRole('link', { name: `#${finished}` }).click();
    await window.page.getByRole('heading', { level: 1 }).getByText(String(finished)).waitFor();

    expect(rows).toEqual([`#${waiting}`, `#${finished}`]);
    expect(texts).toEqual([
      expect.stringMatching(new RegExp(`#${waiting}\\s+waiting`)),
      expect.stringMatching(new RegExp(`#${finished}\\s+completed`)),
    ]);
  });

  it('have the ticks of the next 24 hours in their strip, and none of a later day', async () => {
    const { board, schedules } = await start();
    const later = new Date(Date.now() + 3 * 86_400_000);
    const add = (name: string, cron: string) => schedules.upsert(name, { queue: 'report', cron });
    await add('hourly', '0 * * * *');
    await add('monthly', `0 0 ${later.getUTCDate()} * *`);
    await add('weekly', `*/5 * * * ${later.getUTCDay()}`);
    const window = await board('schedules');
    const ticksOf = (name: string) => window.row(name).getByRole('img').getAttribute('aria-label');

    expect([await ticksOf('hourly'), await ticksOf('monthly'), await ticksOf('weekly')]).toEqual([
      '24 ticks in the next 24 hours',
      '0 ticks in the next 24 hours',
      '0 ticks in the next 24 hours',
    ]);
  });

  it('are read without a search for the ticks of later days', async () => {
    const { read, schedules } = await start();
    const yearly = { queue: 'report', cron: '0 3 1 1 *' };
    for (let n = 0; n < 10; n++) await schedules.upsert(`yearly${n}`, yearly);
    await schedules.upsert('ending', { queue: 'report', every: '1h', until: new Date(Date.now() + 6 * 3_600_000) });
    const searches = vi.spyOn(Cron.prototype, 'nextRun');
    onTestFinished(() => searches.mockRestore());

    const { body } = await read('schedules');

    const ending = body.schedules.find(({ name }: { name: string }) => name === 'ending');
    // One less if an hour has begun meanwhile.
    expect([5, 6]).toContain(ending.ticks.length);
    expect(body.schedules).toHaveLength(11);
    expect(searches.mock.calls.length).toBeLessThan(100);
  });

  it('are late by the clock of the database, which is a problem of their queue', async () => {
    const connection = await freshConnection();
    const { url, board, schedules, admin } = await start({ connection });
    const database = await new DataSource(connection).initialize();
    onTestFinished(() => database.destroy());
    await admin.resume('report', { create: true });
    await schedules.upsert('daily', { queue: 'report', cron: '0 3 * * *' });
    await schedules.upsert('hourly', { queue: 'report', every: '1h' });
    await database.query(`UPDATE sql_queue_schedules SET next_at = next_at - 172800000 WHERE name = 'daily'`);
    const window = await board(undefined);
    const { page } = window;
    // By the clock of the browser, both are late.
    await page.clock.install({ time: Date.now() + 7_200_000 });

    await page.goto(`${url}#/schedules`);
    await window.row('daily').getByText(', late').waitFor();
    const hourly = await window.row('hourly').innerText();
    await window.go('');
    await page
      .locator('.problem-card')
      .getByText(/^Schedule "daily" of queue "report" is late/)
      .waitFor();
    await page.getByRole('link', { name: 'See the schedules' }).click();
    await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();

    expect(hourly).not.toContain('late');
  });
});
