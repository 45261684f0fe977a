import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually.js';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

const FIND_PROMETHEUS = '../../scripts/monitoring/prometheus.mjs';
const run = promisify(execFile);

describe('the operations sample', () => {
  let main: string;
  let cwd = '';
  let sample: SampleProcess;

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'sql-queue-operations-'));
    main = await buildSample('10-operations');
  });

  afterAll(async () => {
    sample?.kill();
    await rm(cwd, { recursive: true, force: true });
  });

  it('shows its queues on the board, as metrics, as health and on the command line, and ends at Ctrl-C', async () => {
    sample = new SampleProcess({ main, args: [], cwd, env: { PORT: '0', DATABASE_URL: undefined } });
    const [, board] = await sample.until(/Board: +(\S+)/);
    const url = board!.replace(/\/queues$/, '');
    const authorization = `Basic ${Buffer.from('ann:team').toString('base64')}`;
    const statusOf = async (path: string, headers = {}) => (await fetch(url + path, { headers })).status;

    expect(await statusOf('/queues')).toBe(401);
    expect(await statusOf('/queues', { authorization })).toBe(200);
    expect([await statusOf('/health/ready'), await statusOf('/health/live')]).toEqual([200, 200]);
    await eventually(async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return /^sql_queue_job_runs_total\{queue="shop\.mail",outcome="completed"\} [1-9]/m.test(metrics);
    });
    const queues = await status();
    sample.ctrlC();

    expect(queues.map(({ queue }) => queue)).toEqual(['shop.invoice', 'shop.mail']);
    expect(await sample.ended).toBe(0);
  });

  it('has a configuration for Prometheus that loads the alert rules of the package', async () => {
    const { findPrometheus } = (await import(FIND_PROMETHEUS)) as { findPrometheus(): Promise<{ promtool: string }> };
    const { promtool } = await findPrometheus();
    const config = resolve(import.meta.dirname, '../../sample/10-operations/prometheus.yml');

    const { stdout } = await run(promtool, ['check', 'config', config]);

    expect(stdout).toMatch(/alerts\.yml\s+SUCCESS: \d+ rules found/);
  });

  async function status(): Promise<{ queue: string }[]> {
    const command = join(dirname(dirname(main)), 'node_modules/nestjs-sql-queue/dist/cli.js');
    const env = { ...process.env, NODE_OPTIONS: '', SQL_QUEUE_URL: `sqlite:${join(cwd, 'operations.sqlite')}` };
    const { stdout } = await run(process.execPath, [command, 'status', '--json'], { env });
    return JSON.parse(stdout) as { queue: string }[];
  }
});
