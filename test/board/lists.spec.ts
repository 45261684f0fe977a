import { gate } from '../support/engines.js';
import { useBrowser } from './support/board-browser.js';

const browser = useBrowser();

describe('the lists of the board', () => {
  it('show the running jobs of a worker, which are read when a person opens them', async () => {
    const { board, producer, runner } = await browser.start({ board: { refresh: '1h' } });
    const end = gate();
    const started = gate();
    let count = 0;
    await runner.handle('email', { concurrency: 25, retry: { attempts: 3, backoff: 0 } }, () => {
      if (++count === 22) started.open();
      return end.opened;
    });
    await producer.enqueueMany(
      'email',
      Array.from({ length: 22 }, (_, n) => ({ payload: n })),
    );
    await started.opened;
    const window = await board(undefined);
    const reads: string[] = [];
    window.page.on('request', (request) => {
      if (request.url().includes('/api/jobs?')) reads.push(request.url());
    });
    await window.go('workers');

    const open = window.button(`Running jobs of process ${process.pid}`);
    await open.waitFor();
    const before = reads.length;
    await open.click();
    await window.row('#1').first().waitFor();
    const rows = await window.page.getByRole('row').allInnerTexts();
    await window.page.getByText('The first 20.').waitFor();
    await window.page.getByRole('link', { name: 'All running jobs', exact: true }).click();
    await window.row('#22').waitFor();
    end.open();

    expect([before, reads[0]]).toEqual([0, expect.stringMatching(/worker=[\w-]+&state=active&order=oldest&limit=20$/)]);
    expect(rows).toHaveLength(21);
    expect(rows[1]!.replace(/\s+/g, ' ')).toMatch(/^#1 email 1\/3 (now|[\d.]+ (ms|s) ago)$/);
  });

  it('show the selections of the audit in words, and as JSON on request', async () => {
    const { board, admin, producer, runner } = await browser.start();
    const stop = await runner.handle('crm.push', {}, () => {
      throw Object.assign(new Error('no'), { code: 'E550' });
    });
    await producer.enqueue('crm.push', 1);
    await runner.whenIdle();
    await stop();
    const { id } = await producer.enqueue('crm.push', 1, { delay: '1h', headers: { tenant: 'acme' } });
    const many = await producer.enqueueMany(
      'email',
      Array.from({ length: 7 }, (_, n) => ({ payload: n })),
    );
    const flow = await producer.flow((flow) => flow.add('order', 1));
    await admin.promote(id);
    await admin.remove({ queue: 'crm.push', state: 'dead', error: 'E550' });
    await admin.cancel({ queue: 'crm.push', state: 'waiting', headers: { tenant: 'acme' } });
    await admin.cancel(many.map((job) => job.id));
    await admin.cancelFlow(flow.id);
    await admin.retry({ all: true });
    await admin.pause('email');
    await admin.resume({ all: true });
    await admin.group('email', 'acme').pause();
    await admin.signal('approval', 'order:7');
    await admin.erase('order:7');
    const window = await board('audit');

    const row = (verb: string) =>
      window.page.getByRole('row').filter({ has: window.page.getByRole('link', { name: verb, exact: true }) });
    await row('signal').waitFor();
    const cells = await window.page.locator('tbody td[data-label=Which]').allInnerTexts();
    await row('signal').getByText('JSON').click();
    await row('signal').getByText('{"name":"approval","key":"order:7"}').waitFor();

    expect(
      cells.map((text) =>
        text
          .replace(/\s*JSON$/, '')
          .replace(/\s+/g, ' ')
          .trim(),
      ),
    ).toEqual([
      'the jobs of a subject',
      'the signal approval with the key order:7',
      'group acme of email',
      'all queues',
      'queue email',
      'all jobs',
      `flow ${flow.id}`,
      '#3 #4 #5 #6 #7 and 2 more jobs',
      'waiting jobs of crm.push with header tenant: acme',
      'dead jobs of crm.push with error E550',
      '#2',
    ]);
  });

  it('show the signals that no job has received below the waits, so that a wrong key is found', async () => {
    const { board, producer, runner } = await browser.start();
    await runner.handle('order.pay', {}, (job) => job.waitFor('approval', { key: `order:${job.payload as number}` }));
    await producer.enqueueMany('order.pay', [{ payload: 7 }, { payload: 8 }]);
    await runner.whenIdle();
    await producer.signal('approval', 'order:8');
    await runner.whenIdle();
    for (let n = 0; n < 51; n++) await producer.signal('approval', `order-${n}`);
    const window = await board('waits');
    const unmatched = window.page.getByRole('table', { name: 'Signals that no job has received' });

    await window.row('order:7').waitFor();
    await unmatched.getByRole('row').nth(50).waitFor();
    const first = await unmatched.getByRole('row').allInnerTexts();
    await window.page.getByRole('link', { name: 'Next page' }).click();
    // It stands below the new rows.
    await window.page.getByRole('link', { name: 'First page' }).waitFor();
    const second = await unmatched.getByRole('row').allInnerTexts();
    const wait = await window.row('order:7').getByRole('cell').first().innerText();

    const keys = [...first.slice(1), ...second.slice(1)].map((row) => /order\S+/.exec(row)![0]);
    expect([first.length, second.length, new Set(keys).size]).toEqual([51, 2, 51]);
    expect(keys).not.toContain('order:8');
    expect(first[1]!.replace(/\s+/g, ' ')).toMatch(/^approval order-\d+ (\d+ \w+, )?\d\d:\d\d, /);
    expect(wait).toBe('approval');
  });

  it('show no unmatched signals to a viewer who may only read single queues', async () => {
    const { board, producer, runner, read } = await browser.start({
      board: { can: (_, verb, queue) => verb !== 'read' || queue === 'order.pay' },
    });
    await runner.handle('order.pay', {}, (job) => job.waitFor('approval', { key: 'order:7' }));
    await producer.enqueue('order.pay', 7);
    await runner.whenIdle();
    await producer.signal('approval', 'order-7');
    const window = await board(undefined);
    const reads: string[] = [];
    window.page.on('request', (request) => {
      if (request.url().includes('/api/signals')) reads.push(request.url());
    });
    await window.go('waits');

    await window.row('order:7').getByRole('button', { name: 'Send signal approval' }).waitFor();
    const { status, body } = await read('signals');
    // The browser reports the refused list of workers.
    window.problems.splice(0);

    expect(reads).toEqual([]);
    expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
  });

  it('show the owners of jobs with numbers and times, and those beyond the first 200 active jobs', async () => {
    const { board, producer, consumer } = await browser.start({ board: { refresh: '1h' } });
    const jobs = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: n }));
    await producer.enqueueMany('script', jobs(200));
    const window = await board('people');
    await window.page.getByText('No job has an owner').waitFor();
    await producer.enqueueMany('review', jobs(3));
    await consumer.claim('review', { owner: 'ann', lease: '1h', limit: 2 });
    await consumer.claim('review', { owner: 'bob', lease: '1h' });
    const rows = async () => {
      await window.row('ann').waitFor();
      const texts = await window.page.getByRole('row').allInnerTexts();
      return texts.slice(1).map((text) => text.replace(/\s+/g, ' '));
    };

    await window.page.reload();
    const all = await rows();
    // A program without an owner.
    for (let claimed = 0; claimed < 200;)
      claimed += (await consumer.claim('script', { lease: '1h', limit: 100 })).length;
    await window.page.reload();
    await window.page.getByText('None of the active jobs of this page has an owner').waitFor();
    await window.page.getByRole('link', { name: 'Next page' }).click();
    const further = await rows();
    await window.page.getByRole('link', { name: 'Jobs of ann in review: 2' }).click();
    await window.page.getByRole('heading', { name: 'Jobs assigned to ann' }).waitFor();
    await window.row('#202').waitFor();

    expect(all).toEqual([
      expect.stringMatching(/^ann review 2 (now|[\d.]+ (ms|s) ago)$/),
      expect.stringMatching(/^bob review 1 (now|[\d.]+ (ms|s) ago)$/),
    ]);
    expect(further.map((text) => text.split(' ').slice(0, 3))).toEqual([
      ['ann', 'review', '2+'],
      ['bob', 'review', '1+'],
    ]);
  });

  it.each([
    ['2026-11-27', '2026-11-27T05:00:00.000Z'],
    ['2026-11-27 02:30', '2026-11-27T07:30:00.000Z'],
    ['2026-11-27T02:30Z', '2026-11-27T02:30:00.000Z'],
  ])(
    'take the time %s in a filter as one of the viewer, and have its instant in the address',
    async (typed, instant) => {
      const { board } = await browser.start();
      const window = await board('jobs', { timezoneId: 'America/New_York' });
      const { page } = window;
      const query = `createdAfter=${encodeURIComponent(instant)}`;

      const read = page.waitForRequest((request) => request.url().includes('createdAfter'));
      await page.getByRole('combobox', { name: 'Add a filter' }).fill(`from:${typed}`);
      await page.keyboard.press('Enter');
      const asked = (await read).url();

      expect(asked).toContain(query);
      expect(page.url()).toContain(query);
    },
  );

  it.each(['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore'])(
    'take a date as %s in the address as the midnight of the viewer',
    async (field) => {
      const { board } = await browser.start();
      const window = await board(undefined, { timezoneId: 'America/New_York' });

      const read = window.page.waitForRequest((request) => request.url().includes(field));
      await window.go(`jobs?${field}=2026-11-27`);

      expect((await read).url()).toContain(`${field}=${encodeURIComponent('2026-11-27T05:00:00.000Z')}`);
    },
  );
});
