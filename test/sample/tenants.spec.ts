import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

const ROWS = 1236;

let main: string;
let cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  main = await buildSample('08-tenants');
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

describe('the tenants sample', () => {
  it('serves the small tenants while a large one has many rows left, and imports all rows', async () => {
    const { start } = await setup();

    const sample = start();
    const end = await sample.ended;

    expect(end).toBe(0);
    expect(sample.number(/acme has (\d+) rows left/)).toBeGreaterThan(100);
    expect(sample.number(/Stopped: (\d+) rows/)).toBe(ROWS);
  });

  it('stops cleanly at Ctrl-C, is killed, and the next start continues', async () => {
    const { start } = await setup();

    const interrupted = start();
    await interrupted.until(/acme #/);
    interrupted.ctrlC();
    const end = await interrupted.ended;
    const killed = start();
    await killed.until(/acme #/);
    killed.kill();
    await killed.ended;
    const last = start();

    expect([end, await last.ended]).toEqual([0, 0]);
    // On a slow machine, the workers may have imported all rows before the signal. The next start begins again then.
    const imports = [interrupted, killed, last].filter(({ output }) => /\d+ rows to import/.test(output));
    expect(last.number(/Stopped: (\d+) rows/)).toBe(ROWS * imports.length);
  });
});

async function setup() {
  const cwd = await mkdtemp(join(tmpdir(), 'sql-queue-tenants-'));
  cleanups.push(() => rm(cwd, { recursive: true, force: true }));
  return {
    start: () => {
      const sample = new SampleProcess({ main, args: [], cwd, env: {} });
      cleanups.push(async () => {
        sample.kill();
        await sample.ended;
      });
      return sample;
    },
  };
}
