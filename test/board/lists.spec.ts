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
});
