import { useBrowser } from './support/board-browser.js';

const browser = useBrowser();

describe('the page of a flow', () => {
  it('shows the selected job beside the graph, by pointer and keyboard', async () => {
    const { board, producer, runner } = await browser.start();
    await runner.handle('order', { retry: { attempts: 2, backoff: 0 } }, () => {
      throw Object.assign(new Error('no funds'), { code: 'E402' });
    });
    const flow = await producer.flow((flow) => {
      const order = flow.add('order', 1);
      flow.add('ship', 1, { after: flow.add('pick', 1, { after: order, onFailure: 'wait' }) });
      flow.addMany('pack', [1, 2, 3, 4]);
    });
    await runner.whenIdle();
    const [order, pick, ship] = flow.jobs.map(({ id }) => id);
    const window = await board(`flow?id=${flow.id}`);
    const { page } = window;
    const panel = page.locator('.side-card');
    const node = (text: string) => page.locator('a.gnode').filter({ hasText: text });
    const text = async () => (await panel.innerText()).replace(/\s+/g, ' ');

    // The dead job is selected at first.
    await panel.getByText('no funds').waitFor();
    const dead = await text();
    await node('ship').focus();
    await page.keyboard.press('Enter');
    await panel.getByRole('heading', { name: `#${ship} ship` }).waitFor();
    await panel.getByRole('link', { name: 'Open the job', exact: true }).waitFor();
    const blocked = await text();
    const focused = await page.evaluate<string>(`document.activeElement.getAttribute('aria-current')`);
    await panel.getByRole('link', { name: `#${pick}` }).press('Enter');
    await panel.getByRole('heading', { name: `#${pick} pick` }).waitFor();
    await panel.getByRole('link', { name: 'Open the job', exact: true }).waitFor();
    const behindDead = await text();
    await node('pack').click();
    await panel.getByRole('heading', { name: '4 × pack' }).waitFor();
    const stack = await text();
    await node('order').click();
    await panel.getByRole('link', { name: 'Open the job with its stack' }).click();
    await page.getByRole('heading', { name: `order #${order}` }).waitFor();

    expect(dead).toMatch(
      new RegExp(
        `^#${order} order State dead Queue order Attempts 2 of 2 Started .* E402 no funds Open the job with its stack$`,
      ),
    );
    expect(blocked).toMatch(new RegExp(`State blocked Queue ship Waits for #${pick} blocked Attempts 0`));
    expect(behindDead).toMatch(new RegExp(`State blocked Queue pick Waits for #${order} dead`));
    expect(stack).toMatch(/^4 × pack Queue pack Jobs (#\d+ waiting ?){4}$/);
    expect(focused).toBe('true');
  });
});
