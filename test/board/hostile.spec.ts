import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import { openBrowser, openPage } from '../support/browser.js';
import { startBoard, type BoardApp } from './support/board-app.js';
import { BoardWindow } from './support/board-page.js';

const MARKUP = `"><img src=x onerror="alert(1)"><script>alert(2)</script>{{7*7}}`;

let browser: Browser;

// Downloads the browser once if the machine has none.
beforeAll(async () => {
  browser = await openBrowser();
});

afterAll(() => browser?.close());

describe('the board, with hostile content and hostile sites,', () => {
  it('shows markup in payloads, results, progress, errors, stacks, headers, keys, owners and log lines as text', async () => {
    const app = await startBoard({ board: { user: () => MARKUP } });
    const id = await hostileJobs(app);
    const window = await BoardWindow.open(browser, app.url, '');

    const hashes = [
      '',
      'jobs',
      'dead?queue=email',
      'people',
      'schedules',
      'subscriptions',
      'audit',
      `job?id=${id}`,
      'queue?queue=email',
    ];
    const texts: string[] = [];
    for (const hash of hashes) {
      await window.go(hash);
      for (const closed of await window.page.locator('main [aria-expanded=false]:not([role])').all())
        await closed.click();
      texts.push(await window.page.locator('body').innerText());
      expect(await window.page.locator('main img, main script, header img').count()).toBe(0);
    }
    const { problems } = window;
    await window.close();

    expect(problems).toEqual([]);
    for (const index of [1, 2, 3, 7]) expect(texts[index]).toContain('<img src=x onerror=');
    expect(texts[7]!.split('<script>').length).toBeGreaterThan(6);
  });

  it('shows controls that turn the direction of text, and keeps them when a payload is edited', async () => {
    const app = await startBoard();
    const payload = 'invoice\u202efdp.exe\u2066';
    const { id } = await app.producer.enqueue('email', payload, { delay: '1h', key: payload });
    const window = await BoardWindow.open(browser, app.url, `job?id=${id}`);

    const text = await window.page.locator('main').innerText();
    await window.pressMore('Payload …');
    const edited = await window.page.locator('textarea').inputValue();
    await window.close();

    expect(text).toContain('invoice\ufffdfdp.exe\ufffd');
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(JSON.parse(edited)).toBe(payload);
  });

  it('shows no secret in any answer of any page', async () => {
    const app = await startBoard();
    const id = await hostileJobs(app);
    const window = await BoardWindow.open(browser, app.url, '');

    for (const hash of ['jobs?queue=email', 'dead?queue=email', 'schedules', 'audit', `job?id=${id}`])
      await window.go(hash);
    const bodies = await window.allBodies();
    await window.close();

    expect(bodies).toContain('••••');
    expect(bodies).not.toContain('hunter2');
  });

  it('refuses a form and a script of another site, although the browser sends the cookie of the user', async () => {
    const { url, admin, producer } = await startBoard({
      configure: (app) => app.enableCors({ origin: true, credentials: true }),
    });
    await producer.enqueue('email', 1);
    const target = `${url}/api/pause`;
    const site = await startSite(
      `<form id="f" method="post" action="${target}"><input name="queue" value="email"></form>`,
    );
    const page = await openPage(browser);
    const context = page.context();
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);

    const statuses = await page.evaluate(async (to) => {
      const json = { 'content-type': 'application/json', 'x-sql-queue': '1' };
      const body = '{"queue":"email"}';
      const posts = [json, { 'content-type': 'text/plain' }].map((headers) =>
        fetch(to, { method: 'POST', credentials: 'include', headers: headers as Record<string, string>, body }),
      );
      const reads = [fetch(to.replace('pause', 'queues'), { credentials: 'include' })];
      return Promise.all([...posts, ...reads].map((answer) => answer.then(({ status }) => status)));
    }, target);
    const [byForm] = await Promise.all([
      page.waitForResponse((response) => response.url() === target),
      page.evaluate(`document.getElementById('f').submit()`),
    ]);
    const board = await context.newPage();
    const frame = await board.goto(url).then((response) => response?.headers()['content-security-policy']);
    await context.close();
    site.close();

    expect(statuses).toEqual([403, 403, 403]);
    expect(byForm.status()).toBe(403);
    expect(frame).toContain(`frame-ancestors 'none'`);
    expect(await admin.queues()).toMatchObject([{ paused: false }]);
  });

  async function startSite(html: string): Promise<Server> {
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(html);
    });
    site.listen(0, 'localhost');
    await once(site, 'listening');
    return site;
  }

  async function hostileJobs({ producer, runner, consumer, schedules, admin }: BoardApp): Promise<number> {
    await runner.handle('email', {}, (job) => {
      job.progress({ [MARKUP]: MARKUP });
      job.log(`${MARKUP} password=hunter2`);
      throw Object.assign(new Error(`${MARKUP} token: hunter2`), { code: MARKUP });
    });
    const payload = { [MARKUP]: MARKUP, password: 'hunter2' };
    const { id } = await producer.enqueue('email', payload, {
      key: MARKUP,
      headers: { tenant: MARKUP, authorization: 'hunter2' },
    });
    await runner.whenIdle();
    const { id: assigned } = await producer.enqueue('review', payload);
    await consumer.assign(assigned, MARKUP);
    await schedules.upsert('daily', { queue: 'email', cron: '0 3 * * *', payload });
    await admin.subscribe('email', { topic: 'user.*', where: { region: MARKUP } });
    await admin.as(MARKUP).update(assigned, { headers: { tenant: MARKUP } });
    await admin.as(MARKUP).pause('review');
    return id;
  }
});
