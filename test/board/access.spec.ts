import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { startBoard, type BoardApp } from './support/board-app.js';
import { BoardWindow } from './support/board-page.js';

const FOCUSED = `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const WIDTHS = [360, 390, 768, 1280, 1920];

let browser: Browser;

// Downloads the browser once if the machine has none.
beforeAll(async () => {
  browser = await openBrowser();
});

afterAll(() => browser?.close());

describe('the board, for every person and device,', () => {
  it.each(['light', 'dark'] as const)(
    'breaks no rule of WCAG 2.2 AA on any page in the %s theme',
    async (colorScheme) => {
      const app = await startBoard();
      const hashes = await fillPages(app);
      const window = await BoardWindow.open(browser, app.url, '', { colorScheme, bypassCSP: true });

      const found: string[] = [];
      for (const hash of hashes) {
        await window.go(hash);
        found.push(...(await violations(window)).map((problem) => `${hash}: ${problem}`));
      }
      await window.go('jobs?queue=email');
      await window.button('Retry …').click();
      await window.page.getByText(/^Changes \d+ jobs?, skips/).waitFor();
      found.push(...(await violations(window)).map((problem) => `dialog: ${problem}`));
      await window.confirm('Keep as it is');
      await window.page.keyboard.press('Control+k');
      await window.page.getByRole('dialog', { name: 'Find' }).waitFor();
      found.push(...(await violations(window)).map((problem) => `find: ${problem}`));
      await window.page.keyboard.press('Escape');
      await window.go('queue?queue=email');
      await window.button('Enqueue …').click();
      await window.page.getByLabel('Payload as JSON').fill('{');
      await window.confirm('Enqueue …');
      await window.page.getByText('The payload is no JSON').waitFor();
      found.push(...(await violations(window)).map((problem) => `new job: ${problem}`));
      await window.confirm('Keep as it is');
      await window.go('schedules');
      await window.button('Edit daily').click();
      await window.page.getByRole('dialog').getByRole('listitem').first().waitFor();
      found.push(...(await violations(window)).map((problem) => `schedule: ${problem}`));
      await window.close();

      expect(found).toEqual([]);
    },
  );

  it.each(['light', 'dark'] as const)(
    'fits each width without horizontal scrolling in the %s theme',
    async (colorScheme) => {
      const app = await startBoard();
      const hashes = await fillPages(app);
      const window = await BoardWindow.open(browser, app.url, '', { colorScheme });

      const widths: [string, number, number][] = [];
      for (const hash of hashes) {
        await window.go(hash);
        for (const width of WIDTHS) {
          await window.page.setViewportSize({ width, height: 800 });
          // Charts get their width in the frame after that of the page.
          await window.page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
          widths.push([hash, width, await window.page.evaluate<number>('document.documentElement.scrollWidth')]);
        }
      }
      await window.go('jobs?queue=email');
      await window.page.setViewportSize({ width: 360, height: 740 });
      await window.button('Retry …').click();
      const dialog = await window.page.getByRole('dialog').boundingBox();
      await window.confirm('Keep as it is');
      await window.go('schedules');
      await window.button('Edit daily').click();
      const form = await window.page
        .getByRole('dialog')
        .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      await window.close();

      expect(widths.filter(([, width, scrolled]) => scrolled > width)).toEqual([]);
      expect(dialog!.x + dialog!.width).toBeLessThanOrEqual(360);
      expect(form).toBe(0);
    },
  );

  it('works with the keyboard alone, and keeps the focus when the page updates', async () => {
    const app = await startBoard({ board: { refresh: '1s' } });
    await app.producer.enqueueMany('email', [{ payload: 1 }, { payload: 2 }]);
    const window = await BoardWindow.open(browser, app.url, '');
    const { keyboard } = window.page;
    const focused = () => window.page.evaluate<string>(FOCUSED);
    const tabTo = async (text: string) => {
      for (let presses = 0; presses < 60 && (await focused()) !== text; presses++) await keyboard.press('Tab');
      return focused();
    };

    const heading = await focused();
    const onPause = await tabTo('Pause email');
    await keyboard.press('Enter');
    await window.announced('Queue email is paused.');
    const onResume = await tabTo('Resume email');
    await app.producer.enqueue('email', 3);
    await window.row('email').getByText('3', { exact: true }).waitFor();
    const afterUpdate = await focused();
    await window.go('jobs?queue=email');
    await tabTo('Cancel …');
    await keyboard.press('Enter');
    await window.page.getByText('Changes 3 jobs, skips none.').waitFor();
    const inDialog = await window.page.evaluate<boolean>(`document.activeElement.closest('dialog') !== null`);
    await keyboard.press('Escape');
    const afterEscape = await focused();
    await keyboard.press('Enter');
    await window.page.getByText('Changes 3 jobs, skips none.').waitFor();
    await keyboard.press('Enter');
    await window.announced('3 jobs cancelled.');
    await window.page.locator('nav a').first().focus();
    const outline = await window.page.evaluate<string>('getComputedStyle(document.activeElement).outlineWidth');
    const { problems } = window;
    await window.close();

    expect(heading).toMatch(/^(Reading the queues|No worker|1 queue is broken)/);
    expect([onPause, onResume, afterUpdate]).toEqual(['Pause email', 'Resume email', 'Resume email']);
    expect([inDialog, afterEscape]).toEqual([true, 'Cancel …']);
    expect(outline).toBe('2px');
    expect(await app.admin.counts('email')).toMatchObject({ cancelled: 3 });
    expect(problems).toEqual([]);
  });

  it('keeps the page and its parameters when the link skips to the content', async () => {
    const app = await startBoard();
    await app.producer.enqueue('email', 1);
    const window = await BoardWindow.open(browser, app.url, 'queue?queue=email');
    const { page } = window;

    await page.getByRole('link', { name: 'Skip to the content' }).focus();
    await page.keyboard.press('Enter');
    const hasFocus = await page.evaluate<boolean>(`document.activeElement.id === 'main'`);
    await page.keyboard.press('Tab');
    const next = await page.evaluate<string>(FOCUSED);
    const heading = await page.getByRole('heading', { level: 1 }).innerText();
    const hash = await page.evaluate<string>('location.hash');
    const { problems } = window;
    await window.close();

    expect([heading, hash]).toEqual(['email', '#/queue?queue=email']);
    expect([hasFocus, next]).toEqual([true, 'Queues']);
    expect(problems).toEqual([]);
  });
});

/** Something on every page. Returns the pages. */
async function fillPages({ producer, runner, consumer, schedules, admin, countErrors }: BoardApp): Promise<string[]> {
  const stop = await runner.handle('email', { retry: { attempts: 2, backoff: 0 } }, (job) => {
    job.log('a line');
    throw Object.assign(new Error(`no mailbox with this very long name ${'x'.repeat(200)}`), { code: 'E550' });
  });
  const { id } = await producer.enqueue('email', { to: 'ann', long: 'y'.repeat(400) }, { headers: { tenant: 'acme' } });
  await producer.enqueue('report.build.for.all.tenants', 1, { delay: '1h', key: 'k' });
  await runner.whenIdle();
  await stop();
  await countErrors(
    { queue: 'email', error: 'E550', failed: 12_345, dead: 1, jobId: id },
    { queue: 'report.build.for.all.tenants', error: '', failed: 3, minutesAgo: 50 },
  );
  await runner.handle('alive', {}, () => ({ done: true }));
  await runner.handle('order.pay', {}, (job) => job.waitFor('approval', { key: `order:${'7'.repeat(100)}` }));
  await producer.enqueue('order.pay', 1);
  await producer.signal('approval', `order-${'7'.repeat(100)}`);
  await runner.whenIdle();
  const { id: assigned } = await producer.enqueue('review', 1);
  await consumer.assign(assigned, 'ann');
  await schedules.upsert('daily', { queue: 'report', cron: '0 3 * * *', tz: 'Europe/Berlin' });
  await admin.subscribe('email', { topic: 'user.*', where: { region: 'eu' } });
  await admin.as('ann@example.com').pause('review');
  await admin.limit('email', { maxRunning: 100_000, rate: { limit: 1_000_000, per: '1d', burst: 12 } });
  await admin.configure('email', { enabled: { from: '08:00', to: '18:00', tz: 'America/Argentina/Buenos_Aires' } });
  const flow = await producer.flow((flow) => {
    const first = flow.add('order', 1);
    for (const n of [1, 2, 3]) flow.add('pick', n, { after: flow.add('pack', n, { after: first }) });
  });
  return [
    ...[
      '',
      'queue?queue=email',
      'jobs',
      'jobs?queue=email',
      `job?id=${id}`,
      `job?id=${assigned}`,
      'errors',
      'errors?queue=email',
    ],
    ...[
      'people',
      'people?owner=ann',
      'schedules',
      'flow',
      `flow?id=${flow.id}`,
      'flow?state=stuck',
      'waits',
      'workers',
      'topics',
      'audit',
    ],
  ];
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

async function violations({ page }: BoardWindow): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<{ violations: Violation[] }>(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })`,
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
