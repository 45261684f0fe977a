import { describeServers } from '../support/servers.js';
import type { SampleProcess } from './sample-process.js';
import { runsOf } from './sample-runs.js';

const setup = runsOf('03-strategies');

describeServers('the strategies sample', (server) => {
  it('works the queues of two instances in tables of their own, by each strategy', async () => {
    const { start } = await setup(server);

    const sample = start();

    expect(await sample.ended).toBe(0);
    const strategies = server.name === 'sqlite' ? ['update'] : ['skip-locked', 'lock', 'optimistic', 'update'];
    expect(rowsOf(sample)).toEqual([
      ['sample_mail_*', 'mail.send', 'auto', '300', '0'],
      ...strategies.map((strategy) => ['sample_report_*', `report.${strategy}`, strategy, '300', '0']),
    ]);
  });

  it('stops cleanly at Ctrl-C during its work', async () => {
    const { start } = await setup(server);

    const sample = start();
    await sample.until(/Enqueued/);
    sample.ctrlC();

    expect(await sample.ended).toBe(0);
    expect(rowsOf(sample).length).toBeGreaterThan(1);
  });
});

function rowsOf({ output }: SampleProcess): string[][] {
  return output.split('\n').flatMap((line) => (line.startsWith('sample_') ? [line.trim().split(/\s+/)] : []));
}
