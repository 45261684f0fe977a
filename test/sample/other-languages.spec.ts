import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { openEngine } from '../support/engine.js';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

const SAMPLE = join(import.meta.dirname, '../../sample/06-other-languages');
// SQLite supports RETURNING since 3.35. Without it, or without python3, the tests are skipped.
const hasPython = spawnSync('python3', ['-c', 'import sqlite3, sys; sys.exit(sqlite3.sqlite_version_info < (3, 35))']);
const itWithPython = hasPython.status === 0 ? it : it.skip;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sql-queue-python-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the sample of other languages', () => {
  let main: string;

  beforeAll(async () => {
    main = await buildSample('06-other-languages');
  });

  itWithPython('runs jobs of Nest in Python, and jobs of Python in Nest', async () => {
    const sample = new SampleProcess({ main, args: [], cwd: folder, env: {} });

    expect(await sample.ended).toBe(0);

    expect(sample.output).toContain('Counted by Python: 5. Written down by Nest: 5.');
    expect(sample.output).toMatch(/nest: {3}job 1 has 4 words, says python/);
  });
});

describe('the consumer in Python', () => {
  itWithPython('completes, fails, releases and delays jobs like a worker of the library', async () => {
    const { engine, dataSource, python } = await openFile();
    const { producer, admin } = engine;
    await producer.enqueueMany('q', [{ payload: { n: 1 } }, { payload: 2, options: { retry: 1 } }]);
    await producer.enqueueMany('q', [{ payload: 'ä' }, { payload: null }]);

    const output = python(`
first, second, third, fourth = (q.claim() for _ in range(4))
print(first.payload, second.payload, third.payload, q.claim())
q.heartbeat(first)
q.complete(first, {'ok': True})
q.fail(second, ValueError('last'))
q.fail(third, ValueError('again'), delay_ms=60000)
q.release(fourth)
print(q.enqueue({'a': 'ü'}, name='later', headers={'h': 'x'}, delay_ms=60000))`);

    const jobs = (await admin.find({ queue: 'q' })).jobs;
    await close(engine, dataSource);
    expect(output).toBe("{'n': 1} 2 ä None\n5\n");
    expect(jobs).toMatchObject([
      { state: 'completed', attempt: 1, result: { ok: true }, worker: 'python', startedAt: expect.any(Date) },
      { state: 'dead', attempt: 1, error: { name: 'ValueError', message: 'last' } },
      { state: 'scheduled', attempt: 1, error: { name: 'ValueError', message: 'again' }, runAt: expect.any(Date) },
      { state: 'waiting', attempt: 0 },
      { state: 'scheduled', name: 'later', payload: { a: 'ü' }, headers: { h: 'x' } },
    ]);
  });

  itWithPython('changes no job after a lost lease, and claims nothing in a paused queue', async () => {
    const { engine, dataSource, python } = await openFile();
    const { producer, admin } = engine;
    const { id } = await producer.enqueue('q', 0);

    const output = python(`
job = q.claim()
q.db.execute("UPDATE sql_queue_jobs SET claim_id = 0, state = 'waiting'")
q.db.execute("DELETE FROM sql_queue_claims")
for verb in (q.complete, q.release, q.heartbeat, lambda job: q.fail(job, ValueError('x'))):
    try:
        verb(job)
    except LeaseLost:
        print('lost')
q.db.execute("UPDATE sql_queue_queues SET paused = 1")
print(q.claim())`);

    const job = await admin.get(id);
    await close(engine, dataSource);
    expect(output).toBe('lost\nlost\nlost\nlost\nNone\n');
    expect(job).toMatchObject({ state: 'waiting', attempt: 1, error: null });
  });

  async function openFile() {
    const file = join(folder, 'queue.sqlite');
    const dataSource = await new DataSource({ type: 'better-sqlite3', database: file }).initialize();
    const engine = await openEngine({ dataSource });
    const python = (program: string) => {
      const script = `from sql_queue import LeaseLost, Queue\nq = Queue(${JSON.stringify(file)}, 'q')\n${program}`;
      const { stdout, stderr } = spawnSync('python3', ['-c', script], {
        ...{ cwd: SAMPLE, encoding: 'utf8' },
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8' },
      });
      if (stderr) throw new Error(stderr);
      return stdout;
    };
    return { engine, dataSource, python };
  }

  async function close(engine: Awaited<ReturnType<typeof openEngine>>, dataSource: DataSource): Promise<void> {
    await engine.close();
    await dataSource.destroy();
  }
});
