import Database from 'better-sqlite3';
import type { Route } from 'playwright-core';
import { gate } from '../support/engines.js';
import { freshConnection, type BoardAppOptions } from './support/board-app.js';
import { useBrowser, type BoardWithWindows } from './support/board-browser.js';

const browser = useBrowser();

describe('the pages of the board', () => {
  it('show the queues, and pause and resume one or all', async () => {
    const { board, admin, producer } = await start();
    await producer.enqueueMany('email', [{ payload: 1 }, { payload: 2 }]);
    await producer.enqueue('report', 1, { delay: '1h' });
    const window = await board('');

    const cells = await window.row('email').getByRole('cell').allInnerTexts();
    await window.button('Pause email').click();
    await window.announced('Queue email is paused. Running jobs continue.');
    await window.row('email').getByRole('button', { name: 'Resume email' }).click();
    await window.announced('Queue email is resumed. Running jobs continue.');
    await window.pressMore('Pause all queues', 'All queues');
    await window.confirm('Pause all queues');
    await window.announced('2 queues are paused.');

    expect(cells.slice(0, 3)).toEqual(['email', 'no worker', '2']);
    expect([cells[5], cells[8]]).toEqual(['0', '0']);
    expect((await admin.queues()).map(({ paused }) => paused)).toEqual([true, true]);
  });

  it('show changes without a reload, and report a lost connection', async () => {
    const { board, producer, close } = await start({ board: { refresh: '1s' } });
    const window = await board('');
    await window.page.getByText('No queue has had a job yet').waitFor();

    await producer.enqueue('email', 1);
    await window.row('email').waitFor();
    const live = await window.connection('live').innerText();
    await close();
    await window.page.getByRole('alert').filter({ hasText: 'Connection lost. This page shows the state of' }).waitFor();
    // The browser reports each request that the server does not answer.
    window.problems.splice(0);

    expect(live).toMatch(/^Live · (now|\d)/);
  });

  it('keep a selection that a person makes while an update is on its way', async () => {
    const { board, producer } = await start({ board: { refresh: '1s' } });
    await producer.enqueue('email', 1, { delay: '1h' });
    const window = await board('jobs?queue=email');
    const held = gate<Route>();
    await window.page.route('**/api/jobs?*', (route) => held.open(route), { times: 1 });

    const update = await held.opened;
    await window.page.getByLabel('Select job 1').check();
    await producer.enqueue('email', 2);
    await update.continue();
    await window.button('Show 1 newer job').waitFor();

    expect(await window.page.getByLabel('Select job 1').isChecked()).toBe(true);
  });

  it('fall back to requests if the stream does not arrive', async () => {
    const { url, board, producer } = await start();
    const window = await board(undefined);
    await window.page.route('**/api/live', (route) => route.fulfill({ status: 502, body: '' }));
    await producer.enqueue('email', 1);

    await window.page.goto(url);
    await window
      .connection('polling')
      .getByText(/^Every 5 seconds/)
      .waitFor();
    window.problems.splice(0);

    expect(await window.row('email').count()).toBe(1);
  });

  it('show a queue with its charts, and change its limits and groups', async () => {
    const { board, admin, producer, runner } = await start();
    await runner.handle('email', {}, () => undefined);
    await producer.enqueueMany('email', [{ payload: 1 }, { payload: 2 }]);
    await runner.whenIdle();
    await runner.stop();
    const window = await board('queue?queue=email');

    await window.page.getByRole('img', { name: /^Completed\. per minute/ }).waitFor();
    const charts = await window.page
      .getByRole('img')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    await window.button('Limit …').first().click();
    await window.page.getByLabel('Running at once').fill('7');
    await window.page.getByLabel('Rate').fill('100/1m');
    await window.confirm('Limit …');
    await window.announced('The limits of email are changed.');
    const rate = window.page.getByRole('meter', { name: 'Rate in use' });
    await rate.waitFor();
    expect([await rate.getAttribute('aria-valuenow'), await rate.getAttribute('aria-valuemax')]).toEqual(['0', '10']);
    await window.button('Limit …').first().click();
    await window.page.getByLabel('Running at once').fill('many');
    await window.confirm('Limit …');
    const problem = await window.page.getByRole('dialog').getByRole('alert').filter({ hasText: /./ }).innerText();
    await window.confirm('Keep as it is');
    // The browser reports the refused request.
    window.problems.splice(0);
    await window.button('60 hours').click();
    await window.page.getByRole('img', { name: /^Completed\. per hour/ }).waitFor();

    expect(charts.slice(0, 2)).toEqual([
      expect.stringMatching(/^Completed\. per minute: now \d+, at most \d+\.$/),
      expect.stringMatching(/^Failed\. attempts: now 0, at most 0\.$/),
    ]);
    expect(problem).toContain('expected maxRunning to be false or a whole number from 1 to 1000000');
    expect(await admin.queues()).toMatchObject([{ maxRunning: 7, rate: { limit: 100, perMs: 60_000 } }]);
  });

  it('leave the limit of the options as it is if a person changes only the rate', async () => {
    const { board, admin, runner } = await start();
    await runner.handle('email', { maxRunning: 5 }, () => undefined);
    const window = await board('queue?queue=email');

    await window.button('Limit …').first().click();
    await window.page.getByText('A number, or "none". Empty: as it is, 5.').waitFor();
    await window.page.getByLabel('Rate').fill('100/1m');
    await window.confirm('Limit …');
    await window.announced('The limits of email are changed.');
    await window.page.getByText('100 per 1 min (set at run time)').waitFor();
    const text = await window.page.locator('main').innerText();
    const [queue] = await admin.queues();

    expect(text).toMatch(/0 of 5\s+\(options\)/);
    expect(queue).toMatchObject({ maxRunning: 5, settings: { rate: { limit: 100 } } });
    expect(queue!.settings).not.toHaveProperty('maxRunning');
  });

  it('show the settings of a queue with their origin, and change them', async () => {
    const { board, admin, producer } = await start();
    await producer.enqueue('email', 1);
    await admin.limit('email', { maxRunning: 7 });
    const window = await board('queue?queue=email');

    await window.pressMore('Settings …');
    await window.page.getByLabel('Running in each process').fill('3');
    await window.page.getByLabel('Runs jobs').fill('08:00-18:00 Europe/Berlin');
    await window.confirm('Settings …');
    await window.announced('The settings of email are changed.');
    await window.page.getByText('3 (set at run time)').waitFor();
    const hours = window.page.getByRole('img', { name: /^From 08:00 to 18:00, \d\d:\d\d now in Europe\/Berlin$/ });
    expect(await hours.locator('.on').count()).toBe(10);
    const text = await window.page.locator('main').innerText();

    expect(await admin.queues()).toMatchObject([
      { settings: { concurrency: 3, maxRunning: 7, enabled: { from: '08:00', to: '18:00', tz: 'Europe/Berlin' } } },
    ]);
    for (const part of ['no limit (options)', '3 (set at run time)', '08:00-18:00 Europe/Berlin'])
      expect(text).toContain(part);
    expect(text).toMatch(/0 of 7\s+\(set at run time\)/);
  });

  it('pause and limit a group', async () => {
    const { board, admin, producer, runner } = await start({ queues: { email: { groups: { concurrency: 2 } } } });
    await producer.enqueue('email', 1, { group: 'acme', delay: '1h' });
    await producer.enqueue('email', 2, { group: 'acme' });
    await admin.group('email', 'acme').limit({ weight: 2 });
    await runner.whenIdle();
    const window = await board('queue?queue=email');

    await window.button('Pause group acme').click();
    await window.announced('Group acme is paused.');
    await window.page.getByRole('link', { name: 'Waiting jobs of group acme' }).click();
    await window.row('#2').waitFor();
    await window.page.goBack();
    await window.button('Limit group acme').click();
    await window.page.getByLabel('Weight').fill('5');
    await window.confirm('Limit …');
    await window.announced('The limits of group acme are changed.');
    const { groups } = await admin.groups('email');
    await window.button('Resume group acme').click();
    await window.announced('Group acme is resumed.');

    expect(groups).toMatchObject([{ group: 'acme', state: 'paused', weight: 5 }]);
  });

  it('find jobs by a filter, page by page, and change them after a preview', async () => {
    const { board, admin, producer, dead } = await start();
    await dead('email', 60, 'E550');
    await producer.enqueue('email', 1, { name: 'late', delay: '1h', headers: { tenant: 'acme' } });
    const window = await board('jobs?queue=email');

    const all = window.page.getByRole('group', { name: 'All jobs of the filter' });
    const selected = window.page.getByRole('region', { name: 'Selected jobs' });
    await window.page.getByRole('combobox', { name: 'Add a filter' }).fill('header:tenant:acme');
    await window.page.keyboard.press('Enter');
    await window.page.locator('.chip').getByText('tenant:acme').waitFor();
    await window.row('#60').waitFor({ state: 'detached' });
    await window.row('late').waitFor();
    const byHeader = await window.page.getByRole('row').count();
    await all.getByRole('button', { name: 'Run now …' }).click();
    await window.page.getByText('Changes 1 job, skips none.').waitFor();
    await window.confirm('Run now');
    await window.announced('1 jobs promoted.');
    await window.go('jobs?queue=email&state=dead&error=E550');
    const first = await window.page.getByRole('row').count();
    await window.page.getByRole('link', { name: 'Next page' }).click();
    await window.page.getByRole('link', { name: 'First page' }).waitFor();
    await window.row('#1').first().waitFor();
    const second = await window.page.getByRole('row').count();
    await window.page.getByLabel('Select job 1', { exact: true }).check();
    await selected.getByText('1 selected').waitFor();
    await selected.getByRole('button', { name: 'Remove …' }).click();
    await window.page.getByText('Changes 1 job, skips none.').waitFor();
    await window.confirm('Remove');
    await window.announced('1 jobs removed.');
    // Playwright clicks no button that is disabled, but a person may.
    await all.getByRole('button', { name: 'Cancel …', disabled: true }).click({ force: true });
    await window.announced('Cancel changes no job that is dead, only: scheduled, waiting, blocked, active.');

    expect([byHeader, first, second]).toEqual([2, 51, 11]);
    expect(await admin.counts('email')).toMatchObject({ dead: 59, scheduled: 0 });
  });

  it('show the errors of all queues with those of retried jobs, and replay a group at a rate into another queue', async () => {
    const connection = await freshConnection();
    // A process saves what it has counted when it ends, and no later than at the end of the minute.
    const worker = await start({ connection });
    await worker.dead('email', 3, 'E550');
    await worker.dead('email', 2, 'ECONNREFUSED');
    await worker.close();
    const file = new Database(connection.database);
    file.exec("UPDATE sql_queue_errors SET starts_at = starts_at - 7200000 WHERE error = 'ECONNREFUSED'");
    file.close();
    const { board, admin, countErrors } = await start({ connection, queues: { retry: {} } });
    await countErrors(
      { queue: 'email', error: 'E550', failed: 4, jobId: 3 },
      { queue: 'crm', error: 'HTTP_503', failed: 40, jobId: 999, minutesAgo: 20 },
      { queue: 'crm', error: '', failed: 2, jobId: 999 },
    );
    const window = await board('errors');

    await window.page.getByText('49 attempts failed in the last hour. These are all 5 dead jobs.').waitFor();
    const count = await window.page.getByRole('link', { name: 'Errors' }).first().innerText();
    const rows = await window.page.getByRole('row').allInnerTexts();
    await window.button('24 hours').click();
    await window.page.getByText('51 attempts failed in the last 24 hours.').waitFor();
    await window.page.reload();
    await window.page.getByText('51 attempts failed in the last 24 hours.').waitFor();
    await window.button('Replay the jobs of email with E550').click();
    await window.page.getByText('Changes 3 jobs, skips none.').waitFor();
    await window.page.getByLabel('Rate').fill('1/h');
    await window.page.getByLabel('Into queue').fill('retry');
    await window.confirm('Retry');
    await window.announced('3 jobs retried.');
    await window.page.getByText('These are all 2 dead jobs.').waitFor();

    // The errors that fail now come first, and one with dead jobs only is last.
    const shown = rows.slice(1).map((row) => row.replace(/\s+/g, ' '));
    expect(shown[0]).toMatch(/^HTTP_503 newest #999 crm 40 0 0 /);
    expect(shown[1]).toMatch(/^E550 no: E550 default, newest #3 email \d+ \d+ 3 /);
    expect(shown[2]).toMatch(/^other errors newest #999 crm 2 0 0 /);
    expect(shown[3]).toMatch(/^ECONNREFUSED no: ECONNREFUSED default, newest #5 email – 0 0 2 /);
    expect(count).toContain('3');
    expect(await admin.counts('retry')).toMatchObject({ waiting: 1, scheduled: 2 });
    expect(await admin.counts('email')).toMatchObject({ dead: 2 });
  });

  it('show a job with its attempts and log lines, and change it with every verb', async () => {
    const { board, admin, producer, runner } = await start();
    const stop = await runner.handle('email', { retry: { attempts: 2, backoff: 0 } }, (job) => {
      job.log(`line of attempt ${job.attempt}`);
      throw Object.assign(new Error(`mailbox ${job.attempt}`), { code: 'E550' });
    });
    const { id } = await producer.enqueue('email', { to: 'ann' });
    await runner.whenIdle();
    await stop();
    const window = await board(`job?id=${id}`);

    await window.page.getByText('line of attempt 2').waitFor();
    const text = await window.page.locator('main').innerText();
    await window.button('Retry').click();
    await window.announced(`Job ${id} waits again.`);
    await window.pressMore('Reschedule …');
    await window.page.getByLabel('In', { exact: true }).fill('2h');
    await window.confirm('Reschedule …');
    await window.announced(`Job ${id} is scheduled.`);
    await window.pressMore('Priority …');
    await window.page.getByRole('spinbutton', { name: 'Priority' }).fill('-5');
    await window.confirm('Priority …');
    await window.announced('has a new priority');
    await window.pressMore('Payload …');
    const editor = window.page.getByLabel('Payload as JSON');
    const before = await editor.inputValue();
    await editor.fill('{"to":"bob"');
    await window.confirm('Payload …');
    await window.page.getByText('The payload is no JSON').waitFor();
    await editor.fill('{"to":"bob"}');
    await window.confirm('Payload …');
    await window.announced('has a new payload');
    await window.button('Run now').click();
    await window.announced(`Job ${id} is due.`);
    const edited = await admin.get(id);
    await window.pressMore('Run a copy …');
    await window.page.getByLabel('Payload as JSON').fill('{"to":"cleo"}');
    await window.confirm('Run a copy …');
    await window.page.getByRole('heading', { level: 1, name: `email #${id + 1}` }).waitFor();
    const copy = await admin.get(id + 1);
    await window.button('Cancel').click();
    await window.confirm('Cancel');
    await window.announced(`Job ${id + 1} is cancelled`);
    await window.pressMore('Remove');
    await window.confirm('Remove');
    await window.announced(`Job ${id + 1} is deleted.`);

    for (const part of [
      'Attempt 1 failed',
      'mailbox 1',
      'Attempt 2 failed',
      'E550 mailbox 2',
      'line of attempt 2',
      'to: "ann"',
    ])
      expect(text).toContain(part);
    expect(JSON.parse(before)).toEqual({ to: 'ann' });
    expect(copy).toMatchObject({ payload: { to: 'cleo' } });
    expect(edited).toMatchObject({ state: 'waiting', priority: -5, payload: { to: 'bob' } });
    expect(await admin.get(id + 1)).toBeNull();
  });

  it('show the work of people, and take it back', async () => {
    const { board, admin, producer, consumer } = await start();
    await producer.enqueueMany('review', [{ payload: 1 }, { payload: 2 }]);
    const [first, second] = await consumer.claim('review', { owner: 'ann', lease: '1h', limit: 2 });
    await consumer.move(second!.id, { owner: 'ann', stage: 'second' });
    const window = await board('people');

    await window.page.getByRole('link', { name: 'ann', exact: true }).click();
    await window.page.getByRole('heading', { name: 'Jobs assigned to ann' }).waitFor();
    await window.button(`Take back job ${first!.id}`).click();
    await window.confirm('Take back');
    await window.announced(`Job ${first!.id} waits again.`);
    await window.page.getByLabel('Owner', { exact: true }).fill('');
    await window.page.getByLabel('Queue', { exact: true }).fill('review');
    await window.page.getByLabel('Stage of the queue').fill('second');
    await window.button('Show').click();
    await window.page.getByRole('heading', { name: 'Jobs in stage second of review' }).waitFor();

    expect(await window.page.getByRole('row').nth(1).innerText()).toContain(`#${second!.id}`);
    expect(await admin.get(first!.id)).toMatchObject({ state: 'waiting', owner: null });
  });

  it('show schedules with their next ticks, and pause, resume and run them', async () => {
    const { board, admin, schedules } = await start();
    await schedules.upsert('daily', {
      queue: 'report',
      cron: '0 3 * * *',
      tz: 'Europe/Berlin',
      payload: { kind: 'all' },
    });
    await schedules.upsert('often', { queue: 'report', every: '15m' });
    const window = await board('schedules');

    await window.button('Next ticks of daily').click();
    const ticks = window.page.getByRole('dialog').getByRole('listitem');
    await ticks.first().waitFor();
    const tickCount = await ticks.count();
    await window.confirm('Close');
    await window.button('Pause daily').click();
    await window.announced('Schedule daily is paused.');
    const paused = (await schedules.get('daily'))!.isPaused;
    await window.button('Resume daily').click();
    await window.announced('Schedule daily is resumed.');
    await window.button('Run now: often').click();
    await window.confirm('Run now');
    await window.announced(/Job \d+ of often is enqueued/);

    expect([tickCount, paused]).toEqual([10, true]);
    expect(await admin.counts('report')).toMatchObject({ waiting: 1 });
  });

  it('draw a flow, and retry and cancel it', async () => {
    const { board, admin, producer, dead } = await start();
    const flow = await producer.flow((flow) => {
      const charge = flow.add('order', { failing: true });
      flow.add('ship', 1, { after: flow.add('pick', 1, { after: charge, onFailure: 'wait' }) });
    });
    await dead('order', 0, 'E402');
    const window = await board(`flow?id=${flow.id}`);

    const nodes = await window.page.locator('a.gnode').allTextContents();
    await window.button('Retry failed jobs').click();
    await window.confirm('Retry failed jobs');
    await window.announced(`1 jobs of flow ${flow.id} are retried.`);
    await window.button('Cancel flow').click();
    await window.confirm('Cancel flow');
    await window.announced(`3 jobs of flow ${flow.id} are cancelled.`);
    await window.page.locator('a.gnode').first().click();
    await window.page.getByRole('link', { name: /^Open the job/ }).click();
    await window.page.getByRole('heading', { name: `order #${flow.jobs[0]!.id}` }).waitFor();

    expect(nodes).toEqual([
      `#${flow.jobs[0]!.id} orderdead · order`,
      `#${flow.jobs[1]!.id} pickblocked · pick`,
      `#${flow.jobs[2]!.id} shipblocked · ship`,
    ]);
    expect((await admin.flow(flow.id))!.jobs.map(({ state }) => state)).toEqual([
      'cancelled',
      'cancelled',
      'cancelled',
    ]);
  });

  it('retry the dead job that is open by the key r, and not while a field has the focus', async () => {
    const { board, admin, dead } = await start();
    await dead('email', 1, 'E550');
    const { jobs } = await admin.find({ queue: 'email', state: 'dead' });
    const window = await board(`job?id=${jobs[0]!.id}`);
    const { keyboard } = window.page;

    await keyboard.press('Control+k');
    await keyboard.press('r');
    const typed = await window.page.evaluate<string>('document.activeElement.value');
    await keyboard.press('Escape');
    const before = (await admin.get(jobs[0]!.id))!.state;
    await window.page.getByRole('heading', { level: 1 }).focus();
    await keyboard.press('r');
    await window.announced(`Job ${jobs[0]!.id} waits again.`);

    expect([typed, before]).toEqual(['r', 'dead']);
    expect((await admin.get(jobs[0]!.id))!.state).not.toBe('dead');
  });

  it('list flows by their state, and open one by the keyboard', async () => {
    const { board, producer, dead } = await start();
    const stuck = await producer.flow((flow) => {
      flow.add('ship', 1, { after: flow.add('order', { failing: true }), onFailure: 'wait' });
    });
    await dead('order', 0, 'E402');
    const running = await producer.flow((flow) => flow.add('pick', 1, { after: flow.addMany('pack', [1, 2]) }));
    const window = await board('flow');

    const rows = await window.page.getByRole('row').allInnerTexts();
    await window.button('Stuck').click();
    await window.row(`${running.id}`).filter({ hasText: 'running' }).waitFor({ state: 'detached' });
    await window.row(`${stuck.id}`).filter({ hasText: 'stuck' }).waitFor();
    const hash = await window.page.evaluate<string>('location.hash');
    await window.page.getByRole('heading', { name: 'Flows' }).focus();
    await window.page.keyboard.press('j');
    await window.page.keyboard.press('Enter');
    await window.page.getByRole('heading', { name: `Flow ${stuck.id}` }).waitFor();
    await window.go(`job?id=${stuck.jobs[0]!.id}`);
    await window.page
      .getByRole('definition')
      .getByRole('link', { name: `${stuck.id}`, exact: true })
      .click();
    await window.page.getByRole('heading', { name: `Flow ${stuck.id}` }).waitFor();

    expect(rows.slice(1).map((row) => row.replaceAll(/\s+/g, ' '))).toEqual([
      expect.stringMatching(new RegExp(`^${running.id} running .*2 waiting ?1 blocked ?of 3 jobs`)),
      expect.stringMatching(new RegExp(`^${stuck.id} stuck .*1 blocked ?1 dead ?of 2 jobs`)),
    ]);
    expect(hash).toBe('#/flow?state=stuck');
  });

  it('list the jobs that wait for a signal, and send it with an entry in the audit', async () => {
    const { board, admin, producer, runner } = await start({ board: { user: () => 'ann' } });
    await runner.handle('order.pay', {}, (job) => job.waitFor('approval', { key: `order:${job.payload as number}` }));
    await producer.enqueueMany('order.pay', [{ payload: 7 }, { payload: 8 }]);
    await runner.whenIdle();
    const window = await board('waits');

    await window.row('order:8').waitFor();
    await window.page.getByLabel('Key').fill('order:7');
    await window.button('Show').click();
    await window.row('order:8').waitFor({ state: 'detached' });
    await window.row('order:7').waitFor();
    const cells = await window.row('order:7').getByRole('cell').allInnerTexts();
    await window.row('order:7').getByRole('button', { name: 'Send signal approval' }).click();
    await window.confirm('Send signal');
    await window.announced('The signal approval has woken 1 job.');
    await window.page.getByText('No job waits for such a signal').waitFor();

    expect(cells.slice(0, 2)).toEqual(['approval', 'order:7']);
    expect((await admin.audit()).entries).toMatchObject([
      { verb: 'signal', by: 'ann', queue: 'order.pay', which: { name: 'approval', key: 'order:7' } },
    ]);
  });

  it('ask for the rights in the queues of a page in one request', async () => {
    const { board, schedules } = await start();
    for (let n = 0; n < 15; n++) await schedules.upsert(`s${n}`, { queue: `q${n}`, every: '1h' });
    const window = await board(undefined);
    const asked: string[] = [];
    window.page.on('request', (request) => {
      if (request.url().includes('/api/rights?')) asked.push(request.url());
    });

    await window.go('schedules');
    await window.button('Run now: s14').waitFor();

    expect(asked).toHaveLength(1);
    expect(new URL(asked[0]!).searchParams.getAll('queue')).toHaveLength(15);
  });

  it('show workers and topics', async () => {
    const { board, admin, producer, runner } = await start();
    const held = gate();
    const end = gate();
    await runner.handle('email', { concurrency: 3 }, () => {
      held.open();
      return end.opened;
    });
    await producer.enqueue('email', 1);
    await held.opened;
    await admin.subscribe('crm', { topic: 'user.*', where: { region: ['eu', 'uk'] } });
    const window = await board('workers');

    await window.page
      .getByRole('listitem')
      .filter({ hasText: 'email' })
      .getByText(/^alive/)
      .first()
      .waitFor();
    const meter = window.page.getByRole('meter', { name: 'Running jobs of email' });
    expect(await meter.getAttribute('aria-valuenow')).toBe('1');
    expect(await meter.getAttribute('aria-valuemax')).toBe('3');
    await window.go('queue?queue=email');
    await window.page.getByRole('meter', { name: `Running jobs of process ${process.pid}` }).waitFor();
    end.open();
    await window.go('topics');

    expect(await window.row('crm').innerText()).toContain('region = eu or uk');
  });

  it('show the changes of people in the audit', async () => {
    const { board, admin, producer } = await start({
      board: { user: ({ headers }) => `ann of ${String(headers['host'])}` },
    });
    await producer.enqueue('email', 1, { delay: '1h' });
    const window = await board('');

    await window.button('Pause email').click();
    await window.announced('Queue email is paused.');
    await window.go('job?id=1');
    await window.button('Run now').click();
    await window.announced('Job 1 is due.');
    await window.go('audit?queue=email');
    const rows = await window.page.getByRole('row').allInnerTexts();
    await window.page.getByLabel('Verb').fill('pause');
    await window.button('Show').click();
    await window.row('promote').waitFor({ state: 'detached' });

    expect(rows.slice(1).map((row) => /ann of 127\.\S+\s+(\S+)/.exec(row)?.[1])).toEqual(['promote', 'pause']);
    expect((await admin.audit()).entries.every(({ by }) => by?.startsWith('ann of '))).toBe(true);
  });

  it('show no buttons on a read-only board, and none without the right', async () => {
    const { board, producer } = await start({ board: { readOnly: true, user: () => 'ann' } });
    await producer.enqueue('email', 1);

    for (const hash of ['', 'queue?queue=email', 'jobs?queue=email', 'job?id=1', 'errors?queue=email']) {
      const window = await board(hash);
      await window.page.getByText('Read-only · ann').waitFor();
      expect(await window.page.locator('[data-verb]').count()).toBe(0);
    }
  });
});

interface Start extends BoardWithWindows {
  /** Lets jobs of the queue become dead with the error; with a count of 0 those that wait already. */
  dead(queue: string, count: number, code: string): Promise<void>;
}

async function start(options: BoardAppOptions = {}): Promise<Start> {
  // An update that arrives while a test presses a button could replace the button.
  const app = await browser.start({ ...options, board: { refresh: '1h', ...options.board } });
  return {
    ...app,
    dead: async (queue, count, code) => {
      const stop = await app.runner.handle(queue, {}, () => {
        throw Object.assign(new Error(`no: ${code}`), { code });
      });
      await app.producer.enqueueMany(
        queue,
        Array.from({ length: count }, (_, n) => ({ payload: n })),
      );
      await app.runner.whenIdle();
      await stop();
    },
  };
}
