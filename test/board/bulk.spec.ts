import { startBoard } from './support/board-app.js';
import { useBrowser, type BoardWithWindows } from './support/board-browser.js';

const browser = useBrowser();

describe('a bulk action of the board', () => {
  it('says before it acts how many of the selected jobs it changes, and why it skips the others', async () => {
    const { board, admin } = await withStates();
    const window = await board('jobs?queue=email');
    const selected = window.page.getByRole('region', { name: 'Selected jobs' });

    await window.page.getByLabel('Select all on this page').check();
    await selected.getByRole('button', { name: 'Cancel …' }).click();
    await window.page.getByText('Changes 2 jobs, skips 3: 1 is completed, 2 are dead.').waitFor();
    await window.confirm('Cancel');
    await window.announced('2 jobs cancelled.');

    expect(await admin.counts('email')).toMatchObject({ cancelled: 2, dead: 2, completed: 1 });
  });

  it('counts again if a rate leaves out scheduled jobs', async () => {
    const { board } = await withStates();
    const window = await board('jobs?queue=email');

    const all = window.page.getByRole('group', { name: 'All jobs of the filter' });
    await all.getByRole('button', { name: 'Retry …' }).click();
    await window.page.getByText('Changes 3 jobs, skips 2: 1 is waiting, 1 is completed.').waitFor();
    await window.page.getByLabel('Rate').fill('10/');
    await window.page.getByText('Changes 2 jobs, skips 3: 1 is scheduled, 1 is waiting, 1 is completed.').waitFor();
    await window.page.getByLabel('Rate').fill('');
    await window.page.getByText('Changes 3 jobs, skips 2').waitFor();
    await window.confirm('Keep as it is');
  });

  it('is disabled with the reason if it changes no job of the state', async () => {
    const { board } = await withStates();
    const window = await board('jobs?queue=email&state=completed');
    const all = window.page.getByRole('group', { name: 'All jobs of the filter' });
    const selected = window.page.getByRole('region', { name: 'Selected jobs' });

    await window.page.getByLabel('Select all on this page').check();
    await selected.getByText('1 selected').waitFor();
    const disabled = async (within: typeof all) =>
      within.locator('[data-verb][aria-disabled=true]').evaluateAll((buttons) => buttons.map(({ dataset }) => dataset));
    await all.locator('[data-verb=cancel][aria-disabled=true]').waitFor();
    const [ofFilter, ofSelected] = [await disabled(all), await disabled(selected)];
    const reason = await selected.locator('[data-verb=retry]').getAttribute('title');

    // With the filter for completed jobs a retry means them.
    expect(ofFilter.map(({ verb }) => verb)).toEqual(['promote', 'cancel']);
    expect(ofSelected.map(({ verb }) => verb)).toEqual(['retry', 'promote', 'cancel']);
    expect(reason).toBe('Retry changes no job that is completed, only: scheduled, dead, cancelled.');
  });

  it('says which of the selected jobs have left the filter, and acts if a person confirms', async () => {
    const { board, admin } = await withStates();
    const window = await board('jobs?queue=email&state=dead');
    const selected = window.page.getByRole('region', { name: 'Selected jobs' });
    const [first, second] = (await admin.find({ queue: 'email', state: 'dead' })).jobs.map(({ id }) => id);

    await window.page.getByLabel('Select all on this page').check();
    await selected.getByText('2 selected').waitFor();
    await admin.retry(first!);
    await selected.getByRole('button', { name: 'Retry …' }).click();
    await window.page
      .getByText('Changes 1 job, skips 1: 1 is waiting. Of the selected jobs, 1 job left the filter: 1 is waiting now.')
      .waitFor();
    await window.confirm('Keep as it is');
    await admin.remove(second!);
    await selected.getByRole('button', { name: 'Remove …' }).click();
    await window.page.getByText('Changes 1 job, skips 1: 1 no longer exists.').waitFor();
    await window.confirm('Remove');
    await window.announced('1 jobs removed.');

    expect(await admin.states([first!, second!])).toEqual([]);
  });

  it.each([
    [{ nmae: 'welcome' }, /unknown option "nmae"/],
    [{ finishedbefore: '2026-11-01' }, /unknown option "finishedbefore"/],
    [{ limit: 1 }, /unknown option "limit"/],
    [{ header: null }, /header to be like name:value, got "null"/],
    [{ header: '' }, /header to be like name:value, got ""/],
    [{ name: '' }, /name/],
    [{ createdAfter: '' }, /createdAfter/],
  ])('changes nothing if a condition of its filter is unknown or empty: %j', async (condition, problem) => {
    const { write, admin, producer } = await startBoard();
    await producer.enqueueMany('email', [{ payload: 1 }, { payload: 2 }]);

    const { status, body } = await write('remove', { filter: { queue: 'email', ...condition } });

    expect([status, body.message]).toEqual([400, expect.stringMatching(problem)]);
    expect(await admin.counts('email')).toMatchObject({ waiting: 2 });
  });

  it('rejects an unknown condition as its list does', async () => {
    const { board, read, producer } = await browser.start();
    await producer.enqueue('email', 1);
    const window = await board('jobs?queue=email&jobName=welcome');

    await window.page.getByRole('alert').filter({ hasText: 'unknown option "jobName"' }).waitFor();
    const rows = await window.page.locator('tbody tr').count();
    const empty = await read('jobs?queue=email&name=&header=&createdAfter=&order=&after=');
    // The browser reports the refused requests.
    window.problems.splice(0);

    expect(rows).toBe(0);
    expect(empty).toMatchObject({ status: 200, body: { jobs: [{ id: 1 }] } });
  });
});

/** Jobs of queue email: a completed one, two dead ones, a waiting one and a scheduled one. No worker runs. */
async function withStates(): Promise<BoardWithWindows> {
  const app = await browser.start();
  const stop = await app.runner.handle('email', {}, ({ payload }) => {
    if (payload === 'fails') throw new Error('it fails');
  });
  await app.producer.enqueueMany('email', [{ payload: 'succeeds' }, { payload: 'fails' }, { payload: 'fails' }]);
  await app.runner.whenIdle();
  await stop();
  await app.producer.enqueueMany('email', [{ payload: 1 }, { payload: 2, options: { delay: '1h' } }]);
  return app;
}
