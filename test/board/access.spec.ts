import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { startBoard, type BoardApp } from './support/board-app.js';
import { BoardWindow } from './support/board-page.js';
import { layoutProblems } from './support/layout-problems.js';

const FOCUSED = `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const WIDTHS = [360, 390, 768, 1280, 1920];
const AXE_WIDTHS = [390, 1280];
const RULES = [
  ['light', ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']],
  ['dark', ['color-contrast']],
] as const;

let browser: Browser;

// Downloads the browser once if the machine has none.
beforeAll(async () => {
  browser = await openBrowser();
});

afterAll(() => browser?.close());

describe('the board, for every person and device,', () => {
  it('breaks no rule of WCAG 2.2 AA and can be read and used at each width and in both themes', async () => {
    const app = await startBoard();
    const hashes = await fillPages(app);
    const window = await BoardWindow.open(browser, app.url, '', { bypassCSP: true, reducedMotion: 'reduce' });
    await window.page.evaluate(AXE);
    // All pages share the problems, which the page reads first.
    await window.page.getByRole('list', { name: 'Further problems' }).waitFor();

    const found: string[] = [];
    for (const hash of hashes) {
      await window.go(hash);
      for (const width of WIDTHS) {
        await resize(window, width);
        const problems = await layoutProblems(window);
        if (AXE_WIDTHS.includes(width)) problems.push(...(await violations(window)));
        found.push(...problems.map((problem) => `${short(hash)} at ${width}: ${problem}`));
      }
    }
    await window.close();

    expect(found).toEqual([]);
  });

  it('breaks no rule of WCAG 2.2 AA in its dialogs and fits them on a phone', async () => {
    const app = await startBoard();
    await fillPages(app);
    const window = await BoardWindow.open(browser, app.url, '', { bypassCSP: true, reducedMotion: 'reduce' });
    await window.page.evaluate(AXE);
    const { page } = window;
    const found: string[] = [];
    const check = async (name: string) => {
      for (const width of AXE_WIDTHS) {
        await resize(window, width);
        found.push(...(await violations(window)).map((problem) => `${name} at ${width}: ${problem}`));
      }
      await resize(window, WIDTHS[0]!);
      const { scrollWidth, clientWidth, right } = await page.locator('dialog[open]').evaluate((dialog) => ({
        ...{ scrollWidth: dialog.scrollWidth, clientWidth: dialog.clientWidth },
        right: dialog.getBoundingClientRect().right,
      }));
      if (scrollWidth > clientWidth || right > WIDTHS[0]!) found.push(`${name} is wider than a phone`);
    };

    await window.go('jobs?queue=email');
    await window.button('Retry …').click();
    await page.getByText(/^Changes \d+ jobs?, skips/).waitFor();
    await check('dialog');
    await window.confirm('Keep as it is');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Find' }).waitFor();
    await check('find');
    await page.keyboard.press('Escape');
    await window.go('queue?queue=email');
    await window.button('Enqueue …').click();
    await page.getByLabel('Payload as JSON').fill('{');
    await window.confirm('Enqueue …');
    await page.getByText('The payload is no JSON').waitFor();
    await check('new job');
    await window.confirm('Keep as it is');
    await window.go('schedules');
    await window.button('Edit daily').click();
    await page.getByRole('dialog').getByRole('listitem').first().waitFor();
    await check('schedule');
    await window.close();

    expect(found).toEqual([]);
  });

  it('fits a phone before the first job', async () => {
    const app = await startBoard();
    const window = await BoardWindow.open(browser, app.url, '');
    await window.page.getByText('No queue has had a job yet').waitFor();

    const found: string[] = [];
    for (const hash of ['', 'jobs', 'errors', 'flow', 'waits', 'schedules', 'workers', 'people', 'topics', 'audit']) {
      if (hash !== '') await window.go(hash);
      await resize(window, WIDTHS[0]!);
      found.push(...(await layoutProblems(window)).map((problem) => `${hash}: ${problem}`));
    }
    await window.close();

    expect(found).toEqual([]);
  });

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
async function fillPages(app: BoardApp): Promise<string[]> {
  const { producer, runner, consumer, schedules, admin, countErrors } = app;
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
  const { queue, key, group, job, flow: long } = await fillLongNames(app);
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
      ...[`queue?queue=${queue}`, `jobs?queue=${queue}`, `jobs?key=${key}`, `jobs?queue=${queue}&group=${group}`],
      ...[`job?id=${job}`, `errors?queue=${queue}`],
    ],
    ...[
      'people',
      'people?owner=ann',
      `people?owner=${LONG}`,
      'schedules',
      'flow',
      `flow?id=${flow.id}`,
      `flow?id=${long.id}`,
      'flow?state=stuck',
      'waits',
      'workers',
      'topics',
      'audit',
    ],
  ];
}

const short = (text: string) => text.replace(/(.)\1{9,}/g, '$1…');
const LONG = 'x'.repeat(190);
const NAME = 'n'.repeat(100);

/** Names, keys, groups and errors without a place at which a line may break, and large numbers. */
async function fillLongNames({ producer, runner, consumer, schedules, admin, countErrors }: BoardApp) {
  const [queue, key, group] = [`q${'u'.repeat(99)}`, `k${'e'.repeat(189)}`, `g${'r'.repeat(99)}`];
  const stop = await runner.handle(queue, { groups: { concurrency: 1 } }, (job) => {
    job.log(LONG);
    throw Object.assign(new Error(`no ${LONG} ${LONG}`), { code: 'E'.repeat(60), name: 'N'.repeat(60) });
  });
  const { id: job } = await producer.enqueue(
    queue,
    { [LONG]: LONG },
    { key, group, name: NAME, headers: { [LONG.slice(0, 60)]: LONG } },
  );
  await runner.whenIdle();
  await stop();
  await producer.enqueue(queue, 1, { group, priority: -32_768 });
  await producer.enqueue(queue, 1, { delay: '1h', key: `${key}2` });
  await countErrors({ queue, error: 'E'.repeat(60), failed: 1_234_567_890, dead: 987_654_321, jobId: job });
  const { id: assigned } = await producer.enqueue('review', 1, { name: NAME });
  await consumer.assign(assigned, LONG);
  await schedules.upsert(NAME, { queue, cron: '0 3 * * *', tz: 'America/Argentina/Buenos_Aires' });
  await admin.subscribe(queue, { topic: NAME, where: { ['h'.repeat(60)]: LONG } });
  await admin.as(LONG).pause(queue);
  await admin.as(LONG).group(queue, group).pause();
  const flow = await producer.flow((flow) => flow.add(queue, 1, { after: flow.add('pick', 1), name: NAME }));
  return { queue, key, group, job, flow };
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** All rules in the light theme, and those of colours in the dark one: nothing else differs. */
async function violations({ page }: BoardWindow): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, rules] of RULES) {
    await page.emulateMedia({ colorScheme });
    const { violations: all } = await page.evaluate<{ violations: Violation[] }>(
      `axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })`,
    );
    found.push(
      ...all.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`),
    );
  }
  return found;
}

async function resize({ page }: BoardWindow, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  // Charts get their width in the frame after that of the page.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}
