import Database from 'better-sqlite3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

let main: string;
let cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  main = await buildSample('05-topics');
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

describe('the topics sample', () => {
  it('delivers each message to each consumer, even after a downtime, and deletes the temporary queue', async () => {
    const { start, handled } = await setup();

    const sample = start();
    const end = await sample.ended;

    expect(sample.output).toContain('Stopped: 20 users, messages handled: crm.sync 10, audit.log 20, live.view 20.');
    expect(sample.output).toContain('audit.log is back, where 20 copies wait for it.');
    expect(sample.output).toContain('live.view is gone, with its subscription.');
    expect(sample.output).toContain('crm.sync gets a copy of user.created where {"region":"eu"}');
    expect(end).toBe(0);
    expect(handled('crm.sync')).toEqual(numbers(20).filter((id) => id % 2 === 0));
    expect(handled('audit.log')).toEqual(numbers(20));
  });

  it('stops cleanly at Ctrl-C during its work, and the next start continues', async () => {
    const { start, handled } = await setup();

    const interrupted = start();
    await interrupted.until(/audit\.log is down/);
    interrupted.ctrlC();
    const end = await interrupted.ended;
    const next = start();

    expect([end, await next.ended]).toEqual([0, 0]);
    expect(interrupted.number(/Stopped: (\d+) users/)).toBeLessThan(20);
    expect(handled('crm.sync')).toEqual(numbers(20).filter((id) => id % 2 === 0));
    expect(handled('audit.log')).toEqual(numbers(20));
  });

  it('loses no message and handles no completed message again, however often it is killed', async () => {
    const { start, handled } = await setup();

    for (const id of [2, 8, 14]) {
      const doomed = start();
      await doomed.until(new RegExp(`crm\\.sync +user-${id}@`));
      doomed.kill();
      await doomed.ended;
    }
    const last = start();

    expect(await last.ended).toBe(0);
    expect(handled('crm.sync')).toEqual(numbers(20).filter((id) => id % 2 === 0));
    expect(handled('audit.log')).toEqual(numbers(20));
  });
});

async function setup() {
  const cwd = await mkdtemp(join(tmpdir(), 'sql-queue-topics-'));
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
    /** The users of the messages that a queue has completed. */
    handled: (queue: string): number[] => {
      const database = new Database(join(cwd, 'topics.sqlite'), { readonly: true });
      const rows = database
        .prepare(`SELECT payload FROM sql_queue_history WHERE queue = ? AND state = 'completed'`)
        .all(queue) as { payload: string }[];
      database.close();
      return rows.map(({ payload }) => (JSON.parse(payload) as { id: number }).id).sort((a, b) => a - b);
    },
  };
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
