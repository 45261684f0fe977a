import { useBrowser } from './support/board-browser.js';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACE_PARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

describe('the page of a job', () => {
  const { start } = useBrowser();

  it('links the schedule and the group of the job', async () => {
    const { board, schedules, producer } = await start({ queues: { report: { groups: {} } } });
    await schedules.upsert('nightly', { queue: 'report', every: '1d' });
    await schedules.upsert('hourly', { queue: 'report', every: '1h' });
    const id = await schedules.runNow('nightly');
    const grouped = await producer.enqueue('report', 1, { group: 'acme' });
    const window = await board(`job?id=${id}`);
    const { page } = window;

    await page.getByRole('link', { name: 'nightly', exact: true }).click();
    await window.row('nightly').waitFor();
    const rows = await page.getByRole('row').allInnerTexts();
    await page.getByRole('link', { name: 'All schedules' }).click();
    await window.row('hourly').waitFor();
    await window.go('schedules?name=gone');
    await page.getByText('There is no schedule "gone"').waitFor();
    await window.go(`job?id=${grouped.id}`);
    const target = await page.getByRole('link', { name: 'acme', exact: true }).getAttribute('href');

    expect(target).toBe('#/jobs?queue=report&group=acme');
    expect(rows.join()).not.toContain('hourly');
  });

  it('shows the trace id of the job, and hides it without the right to payloads', async () => {
    const { board, read, producer } = await start();
    const { read: readClosed, producer: other } = await start({
      board: { can: (_request, verb) => verb !== 'read-payload' },
    });
    const { id } = await producer.enqueue('email', 1, { headers: { traceparent: TRACE_PARENT } });
    const { id: hidden } = await other.enqueue('email', 1, { headers: { traceparent: TRACE_PARENT } });
    const { page } = await board(`job?id=${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);

    await page.getByRole('button', { name: 'Copy the trace id' }).click();

    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(TRACE_ID);
    expect((await read(`job?id=${id}`)).body).toMatchObject({ traceId: TRACE_ID });
    expect((await readClosed(`job?id=${hidden}`)).body).toMatchObject({ isHidden: true, traceId: null });
  });
});
