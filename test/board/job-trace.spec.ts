import { freshConnection, startBoard } from './support/board-app.js';
import { useBrowser } from './support/board-browser.js';

describe('the page of a job', () => {
  const { start } = useBrowser();

  it('shows the steps with their values, why the job waits, and sends the signal that it waits for', async () => {
    const { board, producer, runner, admin } = await start();
    await runner.handle('order', {}, async (job) => {
      await job.step('charge', () => Promise.resolve({ id: 'ch_1', apiToken: 'hunter2' }));
      const approval = await job.waitFor<{ by: string }>('approval', { key: 'order:1', timeout: '7d' });
      return { approvedBy: approval?.by };
    });
    const { id } = await producer.enqueue('order', 1);
    await runner.whenIdle();
    const window = await board(`job?id=${id}`);
    const { page } = window;

    await page.getByText('It waits for the signal "approval" with the key "order:1"').waitFor();
    await page.getByText('id: "ch_1"').waitFor();
    const text = await page.locator('main').innerText();
    await window.button('Send signal approval').first().click();
    await page.getByLabel('Data as JSON').fill('{"by":"ann"}');
    await window.confirm('Send signal');
    await window.announced('The signal approval has woken 1 job.');
    await page.locator('.pill').getByText('completed').waitFor();
    await page.getByText('approvedBy: "ann"').waitFor();

    expect(text).toMatch(/charge\s+done/);
    expect(text).toMatch(/approval\s+waiting until .* key order:1/);
    expect(text).not.toContain('hunter2');
    expect(await admin.get(id)).toMatchObject({ state: 'completed', result: { approvedBy: 'ann' } });
    expect(await window.allBodies()).not.toContain('hunter2');
  });

  it('sends no signal that the job does not wait for, and shows no value without the right to payloads', async () => {
    const { read, write, producer, runner } = await start({
      board: { can: (_request, verb) => verb !== 'read-payload' },
    });
    await runner.handle('order', {}, async (job) => {
      await job.step('charge', () => Promise.resolve({ id: 'SECRET' }));
      await job.waitFor('approval', { key: 'order:1', timeout: '7d' });
    });
    const { id } = await producer.enqueue('order', 1);
    await runner.whenIdle();

    expect(await write('signal', { id, name: 'other' })).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect((await read(`steps?id=${id}`)).body).toMatchObject({
      isHidden: true,
      steps: [
        { name: 'approval', state: 'waiting', signalKey: 'order:1', value: null },
        { name: 'charge', state: 'done', value: null },
      ],
    });
  });

  it('names no queue that may not be read in the reasons of a job', async () => {
    const { read, producer } = await start({ board: { can: (_request, _verb, queue) => queue !== 'closed' } });
    const flow = await producer.flow((flow) => flow.add('open', 1, { after: flow.add('closed', 1) }));
    const open = flow.jobs.find(({ queue }) => queue === 'open')!;

    const { body } = await read(`explain?id=${open.id}`);

    expect(body.reasons).toContainEqual(expect.objectContaining({ reason: 'blocked', needs: [], more: true }));
    expect(JSON.stringify(body)).not.toContain('closed');
  });

  it('shows the life of a job: its waits and all attempts with their errors', async () => {
    const connection = await freshConnection();
    // A process saves what it has counted when it ends, and no later than at the end of the minute.
    const worker = await startBoard({ connection });
    await worker.runner.handle('email', { retry: { attempts: 2, backoff: 0 } }, () => Promise.reject(new Error('no')));
    const { id } = await worker.producer.enqueue('email', 1);
    await worker.producer.enqueue('email', 2);
    await worker.runner.whenIdle();
    await worker.close();
    const { board, countErrors } = await start({ connection });
    await countErrors({ queue: 'email', error: 'Error', failed: 9, dead: 5, minutesAgo: 120 });
    const window = await board(`job?id=${id}`);

    const parts = await window.page
      .getByRole('list', { name: 'Life of the job' })
      .getByRole('listitem')
      .allInnerTexts();
    await window.page.getByRole('link', { name: '7 jobs died of the same error' }).click();
    await window.page.getByRole('heading', { name: 'Jobs of email' }).waitFor();

    expect(parts.filter((part) => part.startsWith('Attempt'))).toHaveLength(2);
    expect(parts.at(-1)).toContain('dead');
    expect(window.page.url()).toContain('state=dead&error=Error');
  });
});
