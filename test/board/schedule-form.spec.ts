import { useBrowser } from './support/board-browser.js';

describe('the form of a schedule on the board', () => {
  const { start } = useBrowser();

  it('shows the next ticks while a person types, says what is wrong, and creates the schedule', async () => {
    const { board, schedules, producer } = await start();
    await producer.enqueue('report', 1);
    const window = await board('schedules');
    const { page } = window;
    const dialog = page.getByRole('dialog', { name: 'New schedule' });
    const field = (label: string) => dialog.getByLabel(label, { exact: true });

    await window.button('New schedule …').click();
    await field('Name').fill('daily');
    await field('Queue').fill('report');
    await field('Cron').fill('0 61 * * *');
    const wrong = await dialog.getByText(/expected cron to be a cron expression/).innerText();
    await field('Cron').fill('0 3 * * *');
    await field('Time zone').fill('Asia/Tokyo');
    await dialog.getByRole('listitem').getByText('18:00:00 UTC').first().waitFor();
    await dialog.getByText('At 03:00, Japan Standard Time').waitFor();
    const ticks = await dialog.getByRole('listitem').count();
    await field('Or every').fill('1h');
    await window.confirm('New schedule …');
    await dialog.getByRole('alert').filter({ hasText: 'expected either cron or every, got both' }).waitFor();
    const invalid = await field('Cron').getAttribute('aria-invalid');
    await field('Or every').fill('');
    await field('If the last job has not ended').selectOption('skip');
    await field('Payload as JSON').fill('{"kind":"all"}');
    await window.confirm('New schedule …');
    await window.announced('The schedule is created.');
    await window.row('daily').waitFor();
    // The browser reports the refused request.
    window.problems.splice(0);

    expect(wrong).toContain('0 61 * * *');
    expect([ticks, invalid]).toEqual([5, 'true']);
    expect(await schedules.get('daily')).toMatchObject({
      ...{ queue: 'report', cron: '0 3 * * *', tz: 'Asia/Tokyo', overlap: 'skip', payload: { kind: 'all' } },
    });
  });

  it('edits a schedule, whose payload and end stay if they are not changed, and removes it', async () => {
    const { board, schedules } = await start();
    const payload = { kind: 'all', apiToken: 's3' };
    const until = new Date('2099-05-01T10:30:59.999Z');
    await schedules.upsert('often', {
      queue: 'report',
      every: '15m',
      jitter: '90s',
      missed: { all: 3 },
      until,
      payload,
    });
    const window = await board('schedules');
    const { page } = window;
    const dialog = page.getByRole('dialog', { name: 'Edit often' });

    await window.button('Edit often').click();
    const texts = await dialog
      .locator('input, select, textarea')
      .evaluateAll((all) =>
        all.map((one) => (({ name, value }) => [name, value])(one as unknown as { name: string; value: string })),
      );
    await dialog.getByLabel('Or every').fill('30m');
    await window.confirm('Edit …');
    await window.announced('Schedule often is changed.');
    const edited = await schedules.get('often');
    await window.button('Remove often').click();
    await window.confirm('Remove');
    await window.announced('Schedule often is deleted.');
    await page.getByText('No schedules').waitFor();

    expect(Object.fromEntries(texts)).toMatchObject({
      ...{ queue: 'report', jobName: 'default', cron: '', every: '15m', tz: '', missed: '3', overlap: 'allow' },
      ...{ jitter: '90s', payload: '' },
    });
    expect(edited).toMatchObject({ everyMs: 1_800_000, jitterMs: 90_000, missed: { all: 3 }, until, payload });
    expect(await schedules.list()).toEqual([]);
  });

  it('is not offered for a schedule of the code, and without the rights', async () => {
    const { board, schedules, producer } = await start({
      board: {
        can: (_request, verb, queue) => !verb.endsWith('-schedule') || (queue === 'own' && verb === 'edit-schedule'),
      },
    });
    for (const queue of ['own', 'other']) {
      await producer.enqueue(queue, 1);
      await schedules.upsert(`of:${queue}`, { queue, every: '1h' });
    }
    const window = await board('schedules');

    await window.button('Edit of:own').waitFor();
    const verbs = await window.page
      .locator('[data-verb]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));

    expect(verbs).toEqual(['Edit of:own']);
  });
});
