import type { Browser } from 'playwright-core';
import { openBrowser, openPage } from '../support/browser.js';
import { startBullBoard } from './support/bull-board-app.js';

let browser: Browser;

// Downloads the browser once if the machine has none.
beforeAll(async () => {
  browser = await openBrowser();
});

afterAll(() => browser?.close());

describe('the page of bull-board', () => {
  it('shows a dead job with its error, and retries it', async () => {
    const { url, admin, fail, errors } = await startBullBoard();
    const id = await fail('email', new Error('<img src=x onerror=alert(1)> refused'), {
      to: 'ann',
      password: 'hunter2',
    });
    await admin.stats({ maxAge: 0 });
    const page = await openPage(browser, { viewport: { width: 1400, height: 900 } });
    const problems: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('dialog', (dialog) => void dialog.dismiss().then(() => problems.push(dialog.message())));
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
    // The fonts of the page come from another host.
    await page.route(
      (target) => target.hostname !== '127.0.0.1',
      (route) => route.abort(),
    );

    await page.goto(`${url}/queue/email?status=failed`);
    await page.getByText('refused').first().waitFor();
    await page.goto(`${url}/queue/email/${id}?status=failed`);
    await page.getByText('refused').first().waitFor();
    await page.getByText('Data', { exact: true }).click();
    await page.getByText('ann').first().waitFor();
    const text = await page.locator('body').innerText();
    // The buttons of bull-board have no names. This one is the first.
    await page.locator('main button').first().click();
    await page.getByText('Are you sure that you want to retry this job?').waitFor();
    const retried = page.waitForResponse((response) => response.url().endsWith(`/${id}/retry`));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await retried;
    const job = await admin.get(id);
    await page.close();

    expect(job).toMatchObject({ state: 'waiting' });
    expect(text).toContain('••••');
    expect(text).not.toContain('hunter2');
    expect(problems).toEqual([]);
    expect(errors.filter((line) => !line.includes('is dead after attempt'))).toEqual([]);
  });
});
