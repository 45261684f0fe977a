import { useBrowser } from './support/board-browser.js';

describe('the form of a new job on the board', () => {
  const { start } = useBrowser();

  it('enqueues the job and opens it, after it has said beside each field what is wrong', async () => {
    const { board, admin, producer } = await start({ queues: { email: { groups: {} } } });
    await producer.enqueue('email', 1, { key: 'taken', delay: '1h' });
    const window = await board('queue?queue=email');
    const { page } = window;
    const dialog = page.getByRole('dialog', { name: 'Enqueue a job into email' });
    const problemOf = async (label: string) => {
      const field = dialog.getByLabel(label, { exact: true });
      await page.locator(`#${await field.getAttribute('id')}-problem`).waitFor();
      const ids = (await field.getAttribute('aria-describedby'))!.split(' ');
      return page.locator(`#${ids.at(-1)}`).innerText();
    };
    const focused = () => page.evaluate<string>('document.activeElement.id');

    await window.button('Enqueue …').click();
    await dialog.getByLabel('Payload as JSON').fill('{"to":"bob"');
    await window.confirm('Enqueue …');
    const noJson = await problemOf('Payload as JSON');
    const first = await focused();
    await dialog.getByLabel('Payload as JSON').fill('{"to":"bob"}');
    await dialog.getByLabel('Delay').fill('soon');
    await dialog.getByLabel('Priority').fill('99999');
    await window.confirm('Enqueue …');
    const [delay, priority] = [await problemOf('Delay'), await problemOf('Priority')];
    const second = await focused();
    await dialog.getByLabel('Delay').fill('2h');
    await dialog.getByLabel('Priority').fill('-3');
    await dialog.getByLabel('Key').fill('taken');
    await window.confirm('Enqueue …');
    const key = await problemOf('Key');
    await dialog.getByLabel('Key').fill('free');
    await dialog.getByLabel('Name of the job').fill('welcome');
    await dialog.getByLabel('Group').fill('acme');
    await window.confirm('Enqueue …');
    await page.getByRole('heading', { level: 1, name: 'welcome #2' }).waitFor();
    // The browser reports each request that the server refuses.
    window.problems.splice(0);

    expect(noJson).toMatch(/^The payload is no JSON/);
    expect([first, second]).toEqual(['field-payload', 'field-delay']);
    expect(delay).toMatch(/^expected delay to be a duration/);
    expect(priority).toMatch(/^expected priority to be a whole number from -32768 to 32767/);
    expect(key).toMatch(/^Job 1 of queue "email" has the key "taken"/);
    expect(await admin.get(2)).toMatchObject({
      ...{ payload: { to: 'bob' }, name: 'welcome', priority: -3, key: 'free', group: 'acme', state: 'scheduled' },
    });
  });

  it('is offered only with its right, and a copy with another payload only with the right to change payloads', async () => {
    const { board, producer } = await start({ board: { can: (_request, verb) => /^(read|duplicate)/.test(verb) } });
    const { id } = await producer.enqueue('email', { to: 'ann' });

    const window = await board(`job?id=${id}`);
    await window.pressMore('Run a copy …');
    const hasPayload = await window.page.getByRole('dialog').getByLabel('Payload as JSON').count();
    await window.confirm('Run a copy …');
    await window.page.getByRole('heading', { level: 1, name: 'email #2' }).waitFor();
    await window.go('queue?queue=email');

    expect(hasPayload).toBe(0);
    expect(await window.page.locator('[data-verb=enqueue]').count()).toBe(0);
  });
});
