import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { run } from '../../lib/extras/cli/run.js';
import type { JobContext } from '../../lib/worker/run/job-context.js';
import { account } from '../support/accounts.js';
import { installLibrary } from '../support/built-library.js';
import { describeEngines, gate, type World } from '../support/engines.js';
import { schemaVersion } from '../../lib/store/schema/migrations.js';
import { eventually } from '../support/eventually.js';

interface Ended {
  code: number;
  out: string;
  err: string;
}

const root = resolve(import.meta.dirname, '../..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sql-queue-cli-'));
  await installLibrary(join(folder, 'package'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function urlOf({ dataSource }: World): string {
  const options = dataSource.options as { type: string; url?: string; database?: string };
  return options.type === 'better-sqlite3' ? `sqlite:${options.database}` : options.url!;
}

const main = () => join(folder, 'package/dist/cli.js');
const environment = (env: Record<string, string>) => ({ ...process.env, NODE_OPTIONS: '', ...env });

/** Runs a command in this process. */
async function cli(env: Record<string, string>, args: string[], answers?: string, input = ''): Promise<Ended> {
  const ended = { code: 0, out: '', err: '' };
  ended.code = await run(args, env, {
    input: Readable.from([answers ?? input]),
    isInteractive: answers !== undefined,
    rows: () => 10,
    write: (text) => void (ended.out += text),
    writeError: (text) => void (ended.err += text),
  });
  return ended;
}

/** Runs a command in a process of its own, without a terminal. */
async function cliProcess(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const running = promisify(execFile)(process.execPath, [main(), ...args], { env: environment(env) });
  const ended = (await running.catch((error: object) => error)) as { stdout: string; stderr: string; code?: number };
  return { code: ended.code ?? 0, out: ended.stdout, err: ended.stderr };
}

describeEngines('the command line', (setup) => {
  const open = async (handlers: Record<string, (job: JobContext) => unknown> = {}) => {
    const world = await setup();
    const engine = await world.start({ handlers, queues: { '*': { retry: { attempts: 1 } } } });
    const env = { SQL_QUEUE_URL: urlOf(world) };
    return {
      world,
      engine,
      call: (...args: string[]) => cli(env, args),
      json: async <Result>(...args: string[]) => {
        const { code, out, err } = await cli(env, [...args, '--json']);
        expect({ code, err }).toEqual({ code: 0, err: '' });
        return JSON.parse(out) as Result;
      },
    };
  };

  it('prints the gauges for Prometheus, and serves them until it is stopped', async () => {
    const { world, engine, call } = await open();
    await engine.producer.enqueue('waits', 0);
    const env = environment({ SQL_QUEUE_URL: urlOf(world) });

    const printed = await call('metrics');
    const wrong = await call('metrics', '--listen', 'here');
    const serving = spawn(process.execPath, [main(), 'metrics', '--listen', ':0'], { env });
    const [line] = (await once(serving.stderr.setEncoding('utf8'), 'data')) as [string];
    const url = line.slice('Serving '.length).trim();
    const [scraped, other] = [await fetch(url), await fetch(url.replace('/metrics', '/'))];
    const text = await scraped.text();
    serving.kill('SIGTERM');
    const [code] = (await once(serving, 'exit')) as [number];

    expect(printed.out).toContain('sql_queue_jobs_waiting{queue="waits"} 1');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('expected --listen to be [host]:port')]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    expect(text).toContain('sql_queue_jobs_waiting{queue="waits"} 1');
    expect([other.status, code]).toEqual([404, 0]);
  });

  it('says why the gauges for Prometheus cannot be read, and fails if it prints them once', async () => {
    const { world, call } = await open();
    const serving = spawn(process.execPath, [main(), 'metrics', '--listen', ':0'], {
      env: environment({ SQL_QUEUE_URL: urlOf(world) }),
    });
    world.afterTest(() => serving.kill());
    const lines = createInterface(serving.stderr)[Symbol.asyncIterator]();
    const nextLine = async () => (await lines.next()).value as string;
    const url = (await nextLine()).slice('Serving '.length);

    await world.sql('ALTER TABLE sql_queue_stats RENAME TO away');
    const printed = await call('metrics');
    const scraped = await fetch(url).then((response) => response.text());
    const reported = await nextLine();
    await world.sql('ALTER TABLE away RENAME TO sql_queue_stats');
    const again = await fetch(url).then((response) => response.text());
    const recovered = await nextLine();
    serving.kill('SIGTERM');
    await once(serving, 'exit');

    expect(printed).toEqual({ code: 1, out: '', err: expect.stringContaining('sql_queue_stats') });
    expect([scraped, again]).toEqual([
      expect.stringContaining('sql_queue_stats_up 0'),
      expect.stringContaining('sql_queue_stats_up 1'),
    ]);
    expect(reported).toMatch(/^Cannot read the statistics: .*sql_queue_stats/);
    expect(recovered).toBe('The statistics can be read again.');
  });

  it('explains in words or as JSON why a job does not run, and lists signals that no job has received', async () => {
    const { engine, call, json } = await open({ 'email.send': () => 1 });
    const { id } = await engine.producer.enqueue('email.sned', { card: 'card of ann' });
    await engine.producer.signal('go', 'key');

    const explained = await call('explain', `${id}`);
    const unknown = await call('explain', '4711');

    expect(explained).toEqual({
      ...{ code: 0, err: '' },
      out: `Job ${id} of email.sned is waiting.\n- No worker serves queue "email.sned", did you mean "email.send"?\n`,
    });
    expect(await json('explain', `${id}`)).toMatchObject({ id, reasons: [{ reason: 'no-worker' }] });
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('There is no job 4711')]);
    expect((await call('signals', '--unmatched')).out).toMatch(/^NAME +KEY .*\ngo +key .* no\n$/s);
    expect(await json('signals')).toMatchObject({ signals: [{ name: 'go', key: 'key', isMatched: false }] });
  });

  it('lists flows by state, and names the flow of a job', async () => {
    const { engine, call, json } = await open();
    const flow = await engine.producer.flow((f) => f.add('last', 0, { after: f.addMany('first', [1, 2]) }));
    const other = await engine.producer.flow((f) => f.add('other', 0));
    await engine.admin.cancelFlow(other.id);

    expect((await call('flows')).out).toMatch(
      new RegExp(
        `^ID .*\n *${other.id}  cancelled  other .* 1 cancelled\n *${flow.id}  running .* 2 waiting, 1 blocked\n$`,
        's',
      ),
    );
    expect(await json('flows', '--state', 'running', '--queue', 'last')).toMatchObject({ flows: [{ id: flow.id }] });
    const first = await json<{ flows: object[]; next: string }>('flows', '--oldest', '--limit', '1');
    expect(first).toMatchObject({ flows: [{ id: flow.id }] });
    expect(await json('flows', '--oldest', '--after', first.next)).toMatchObject({ flows: [{ id: other.id }] });
    expect((await call('flows', '--limit', '1')).out).toContain('More: --after ');
    expect(await call('flows', '--state', 'failing')).toMatchObject({ code: 2, err: expect.stringContaining('stuck') });
    expect((await call('flows', '--state', 'stuck')).out).toBe('No flows.\n');
    expect((await call('show', `${flow.jobs[0]!.id}`)).out).toMatch(new RegExp(`^flow: +${flow.id}$`, 'm'));
  });

  it('lists the jobs that wait for a signal, and sends it in the name of the user', async () => {
    const { engine, call, json } = await open({ 'order.pay': (job) => job.waitFor('approval', { key: 'order:7' }) });
    const { id } = await engine.producer.enqueue('order.pay', 0);
    await engine.events.until('snoozed');

    expect((await call('waits')).out).toMatch(
      new RegExp(`^SIGNAL .*\napproval  "order:7" +${id}  order.pay  default `),
    );
    expect(await json('waits', '--name', 'approval', '--key', 'order:7', '--queue', 'order.pay')).toMatchObject({
      waits: [{ jobId: id, name: 'approval', key: 'order:7' }],
    });
    expect((await call('waits', '--key', 'order:8')).out).toBe('No job waits for a signal.\n');
    expect((await call('signal', 'approval', 'order:7', '{', '--yes')).code).toBe(2);
    const sent = await call('signal', 'approval', 'order:7', '{"by":"ann"}', '--yes');
    expect(sent).toEqual({ code: 0, err: '', out: 'The signal has woken 1 job.\n' });
    expect(await engine.events.until('completed')).toMatchObject({ jobId: id, result: { by: 'ann' } });
    const by = expect.stringMatching(/^cli:/);
    expect((await engine.admin.audit()).entries).toMatchObject([{ verb: 'signal', queue: 'order.pay', by }]);
  });

  it('refuses a queue that does not exist with a suggestion, in every command', async () => {
    const { engine, call } = await open();
    await engine.producer.enqueue('email.send', 0);
    const commands = [
      ...[['status'], ['list'], ['groups'], ['history'], ['pause'], ['resume'], ['obliterate'], ['replay']],
      ...[
        ...[
          ['cancel', '--queue'],
          ['promote', '--queue'],
          ['remove', '--queue'],
          ['retry', '--queue'],
        ],
        ...[
          ['flows', '--queue'],
          ['waits', '--queue'],
          ['list', '--queue'],
        ],
        ['retry', '--state', 'dead', '--to'],
        ['replay', 'email.send', '--to'],
      ],
    ];
    const withArguments = [
      ['set', 'email.sned', 'concurrency=5'],
      ['enqueue', 'email.sned', '1'],
    ];

    for (const command of [...commands.map((words) => [...words, 'email.sned']), ...withArguments])
      expect(await call(...command, '--yes'), command.join(' ')).toMatchObject({
        ...{ code: 1, out: '' },
        err: expect.stringContaining('There is no queue "email.sned", did you mean "email.send"?'),
      });
    expect((await call('pause', 'email.sned', '--yes')).err).toContain('Add --create if you mean a new queue.');
    expect(await call('pause', 'email.sned', '--create', '--yes')).toMatchObject({ code: 0 });
  });

  it('shows queues, jobs, a job with its error, workers and schedules', async () => {
    const { engine, call, json } = await open({
      fails: () => Promise.reject(new Error('no \u001b[31mroute')),
    });
    const { id } = await engine.producer.enqueue('fails', { card: 'card of ann' });
    await engine.events.until('dead');
    await engine.producer.enqueue('waits', 0);

    const status = await call('status');
    const listed = await json<{ jobs: object[] }>('list', 'fails', 'dead');
    const shown = await call('show', String(id));
    const withPayload = await json<{ payload: unknown }>('show', String(id), '--payload');
    const workers = await json<{ queues: { queue: string; slots: number }[] }[]>('workers');

    expect(status).toMatchObject({ code: 0, err: '' });
    expect(status.out).toMatch(
      /^QUEUE .* WORKERS\nfails .* 1\nwaits .* 0\n\n✗ No worker serves queue "waits": 1 job waits/s,
    );
    expect(listed.jobs).toMatchObject([{ id, state: 'dead', error: { message: 'no \u001b[31mroute' } }]);
    expect(listed.jobs[0]).not.toHaveProperty('payload');
    expect(shown.out).toContain('no \ufffd[31mroute');
    expect(shown.out).not.toContain('card of ann');
    expect(shown.out).not.toMatch(/^(schedule|traceId):/m);
    expect(withPayload.payload).toEqual({ card: 'card of ann' });
    expect(workers.map(({ queues }) => queues)).toMatchObject([[{ queue: 'fails', slots: 10, running: 0 }]]);
    expect((await call('schedules')).out).toBe('No schedules.\n');
  });

  it('shows the schedule and the trace id of a job', async () => {
    const { engine, call, json } = await open();
    const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    await engine.schedules.upsert('nightly', { queue: 'report', every: '1d', options: { headers } });
    const id = await engine.schedules.runNow('nightly');

    const { out } = await call('show', String(id));

    expect(out).toMatch(/^schedule: +nightly, tick of \S+/m);
    expect(out).toMatch(/^traceId: +0af7651916cd43dd8448eb211c80319c$/m);
    expect(await json('show', String(id))).toMatchObject({ schedule: { name: 'nightly' } });
  });

  it('shows the parents and children of a job, and all its steps', async () => {
    const { engine, call, json } = await open({
      stepping: async (job) => {
        for (let n = 0; n < 120; n++) await job.step(`s${n}`, () => n);
      },
    });
    const flow = await engine.producer.flow((f) => f.add('last', 0, { after: f.addMany('first', Array(22).fill(0)) }));
    const [child] = flow.jobs;
    const last = flow.jobs.find(({ queue }) => queue === 'last')!;
    const { id } = await engine.producer.enqueue('stepping', 0);
    await engine.events.until('completed');

    const shown = await call('show', String(last.id));

    expect(shown.out).toMatch(new RegExp(`^child: +${child!.id} first default, waiting$`, 'm'));
    expect(shown.out).toMatch(new RegExp(`^ +and 2 more: nestjs-sql-queue flow ${flow.id}$`, 'm'));
    expect((await call('show', String(child!.id))).out).toMatch(new RegExp(`^parent: +${last.id} last`, 'm'));
    expect(await json('show', String(last.id))).toMatchObject({ children: { count: 22 }, parents: { count: 0 } });
    expect((await json<{ steps: object[] }>('show', String(id))).steps).toHaveLength(120);
  });

  it('shows up to 1,000 steps of a job, and says that there are more', async () => {
    const { world, engine, call, json } = await open();
    const { id } = await engine.producer.enqueue('waits', 0);
    const rows = Array.from({ length: 1_000 }, (_, n) => `(${id}, 's${1_000 + n}', 'done', '{}', 0)`);
    const insert = 'INSERT INTO sql_queue_steps (job_id, name, state, result, expires_at) VALUES';
    const shownSteps = () => json<{ steps: object[]; hasMoreSteps?: boolean }>('show', String(id));

    await world.sql(`${insert} ${rows.join(', ')}`);
    const all = await shownSteps();
    await world.sql(`${insert} (${id}, 't', 'done', '{}', 0)`);
    const some = await shownSteps();
    const { out } = await call('show', String(id));

    expect([all.steps.length, all.hasMoreSteps]).toEqual([1_000, undefined]);
    expect([some.steps.length, some.hasMoreSteps]).toEqual([1_000, true]);
    expect(out).toMatch(new RegExp(`^step s1999: done\nand more: admin.steps\\(${id}, { after: "[^"]+" }\\)$`, 'm'));
  });

  it('shows the problems with commands that help, and fails if a queue is broken', async () => {
    const { engine, call } = await open();

    expect(await call('status', '--problems')).toEqual({ code: 0, out: 'No problems.\n', err: '' });

    await engine.admin.as('ann').pause('paused', { create: true });
    await engine.producer.enqueue('paused', 0);
    await engine.producer.enqueue('unserved', 0);
    // The statistics of the first call are kept for some seconds.
    const text = await eventually(async () => {
      const found = await call('status', '--problems');
      return found.out.includes('unserved') && found.out.includes('ann') && found;
    });
    const parsed = JSON.parse((await call('status', '--problems', '--json')).out) as { rule: string }[];

    expect(text.out).toMatch(
      /^✗ No worker serves queue "unserved": .* \(since \d{4}-\d\d-\d\d \d\d:\d\d UTC, getting worse\)\n {4}nestjs-sql-queue workers\n/,
    );
    expect(text.out).toMatch(
      /\n! Queue "paused" is paused by ann: 1 job waits.*\n {4}nestjs-sql-queue resume paused\n$/,
    );
    expect([text.code, text.err]).toEqual([1, '1 of 2 problems: jobs do not run, or fail.\n']);
    expect(parsed.map(({ rule }) => rule)).toEqual(['no-worker', 'paused']);
    expect((await call('status', 'paused', '--problems')).code).toBe(0);
  });

  it('writes no control of the terminal or of the direction of text that a job contains', async () => {
    const controls =
      '\u001b\u009b\u007f\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
    const { engine, call, json } = await open({
      fails: (job) => {
        job.log(`line ${controls}`);
        throw new Error(`no ${controls}`);
      },
    });
    const options = { key: `key ${controls}`, headers: { tenant: controls }, delay: '1h' } as const;
    const { id: waiting } = await engine.producer.enqueue('waits', controls, options);
    const { id } = await engine.producer.enqueue('fails', 0);
    await engine.events.until('dead');

    const calls = [
      ['logs', `${id}`],
      ...[id, waiting].flatMap((one) => [
        ['show', `${one}`, '--payload'],
        ['show', `${one}`, '--payload', '--json'],
      ]),
      ...['fails', 'waits'].flatMap((queue) => [
        ['list', queue],
        ['list', queue, '--json'],
      ]),
      ['logs', `${id}`, '--json'],
      ['cancel', controls, '--yes'],
    ];
    const written: string[] = [];
    for (const args of calls) {
      const { out, err } = await call(...(args as [string]));
      written.push(out + err);
    }
    const logs = await json<{ line: string }[]>('logs', `${id}`);

    expect(written.filter((text) => controls.split('').some((one) => text.includes(one)))).toEqual([]);
    expect(written[0]).toContain(`line ${'\ufffd'.repeat(controls.length)}`);
    expect(logs[0]!.line).toBe(`line ${controls}`);
  });

  it('changes jobs by id and by filter, and says how many', async () => {
    const { engine, call, json } = await open();
    const put = async (queue: string, delay?: '1h') =>
      (await engine.producer.enqueue(queue, 0, { ...(delay && { delay }) })).id;
    const [scheduled, cancelled, other] = [await put('a', '1h'), await put('a'), await put('b')];
    const stateOf = async (id: number) => (await engine.admin.get(id))?.state;

    expect(await json('promote', String(scheduled), '--yes')).toEqual({ changed: 1 });
    expect(await stateOf(scheduled)).toBe('waiting');
    expect(await json('cancel', String(cancelled), '--yes')).toEqual({ changed: 1 });
    expect(await json('retry', '--queue', 'a', '--state', 'cancelled', '--dry-run')).toEqual({
      ...{ wouldChange: 1, wouldSkip: {} },
    });
    expect(await json('cancel', '--queue', 'a', '--dry-run')).toEqual({
      ...{ wouldChange: 1, wouldSkip: { cancelled: { value: 1, atLeast: false } } },
    });
    expect(await call('retry', String(scheduled), String(cancelled), '4711', '--rate', '1/s', '--dry-run')).toEqual({
      ...{ code: 0, err: '' },
      out: 'Retry would change 1 job. It would skip 1 waiting, 1 unknown.\n',
    });
    expect(await call('retry', String(scheduled), String(other), '--limit', '1', '--dry-run')).toMatchObject({
      out: 'Retry would change 0 jobs. It would skip 2 waiting.\n',
    });
    expect(await stateOf(cancelled)).toBe('cancelled');
    expect(await json('retry', '--queue', 'a', '--state', 'cancelled', '--yes')).toEqual({ changed: 1 });
    expect(await json('remove', '--queue', 'a', '--yes')).toEqual({ changed: 2 });
    expect(await stateOf(other)).toBe('waiting');
    expect(await call('cancel', String(cancelled), '--yes')).toEqual({
      code: 1,
      out: 'Cancel: 0 jobs changed.\n',
      err: '1 job not changed: unknown, or in another state.\n',
    });
  });

  it.each([
    [['a', '--queue', 'b'], 'expected either the queue "a" or --queue b'],
    [['a', 'dead', '--state', 'waiting'], 'expected either the state "dead" or --state waiting'],
  ])('refuses to list jobs by two values of one condition: %j', async (args, problem) => {
    const { engine, call } = await open();
    for (const queue of ['a', 'b']) await engine.producer.enqueue(queue, 1);

    expect(await call('list', ...args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(problem) });
  });

  it('fails for ids that are not changed, unless the limit left them out', async () => {
    const { engine, call } = await open();
    const enqueued = await engine.producer.enqueueMany('a', [{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    const ids = enqueued.map(({ id }) => String(id));

    expect(await call('cancel', ...ids, '--limit', '2', '--yes')).toEqual({
      ...{ code: 0, out: 'Cancel: 2 jobs changed.\n', err: '' },
    });
    expect(await call('cancel', ...ids, '--limit', '2', '--yes')).toEqual({
      code: 1,
      out: 'Cancel: 1 job changed.\n',
      err: '2 jobs not changed: unknown, or in another state.\n',
    });
  });

  it('sets options of a queue for all processes, and resets them', async () => {
    const { engine, call, json } = await open();
    const settings = async () => (await engine.admin.queues())[0]?.settings;

    const pairs = ['concurrency=5', 'rate=100/1m', 'enabled=08:00-18:00@Europe/Berlin', 'maxRunning=false'];
    expect(await json('set', 'q', ...pairs, '--create', '--yes')).toMatchObject({
      queue: 'q',
      settings: { concurrency: 5 },
    });
    expect(await settings()).toMatchObject({
      concurrency: 5,
      rate: { limit: 100, perMs: 60_000 },
      maxRunning: null,
      enabled: { from: '08:00', to: '18:00', tz: 'Europe/Berlin' },
    });
    expect(await call('set', 'q', 'prefetch=5', '--yes')).toMatchObject({ code: 2 });
    expect(await call('set', 'q', '--yes')).toMatchObject({ code: 2 });
    await call('set', 'q', '--reset', '--yes');
    expect(await settings()).toEqual({});
  });

  it('obliterates a queue', async () => {
    const { engine, json } = await open();
    await engine.producer.enqueue('q', 0);

    expect(await json('obliterate', 'q', '--dry-run')).toEqual({ wouldRemove: 1 });
    expect(await json('obliterate', 'q', '--yes')).toEqual({ queue: 'q', removed: 1 });
    expect(await engine.admin.queues()).toEqual([]);
  });

  it('stands in the audit with the user and the host', async () => {
    const world = await setup();
    const { admin, producer } = await world.start({ autoStart: false });
    const { id } = await producer.enqueue('q', 0);

    await cli({ SQL_QUEUE_URL: urlOf(world) }, ['cancel', String(id), '--yes']);

    const [entry] = (await admin.audit()).entries;
    expect(entry).toMatchObject({ verb: 'cancel', which: [id], by: `cli:${userInfo().username}@${hostname()}` });
  });

  it('replays the dead jobs of a queue at a rate into another queue', async () => {
    const { engine, json } = await open({ fails: () => Promise.reject(new Error('no')) });
    await engine.producer.enqueueMany('fails', [{ payload: 1 }, { payload: 2 }]);
    await engine.events.untilCount(2, 'dead');

    const replayed = await json('replay', 'fails', '--to', 'again', '--create', '--rate', '1/h', '--yes');

    expect(replayed).toEqual({ changed: 2 });
    expect(await engine.admin.counts('again')).toMatchObject({ waiting: 1, scheduled: 1 });
  });

  it('releases a job of a worker that hangs, and follows the log lines of a job until it ends', async () => {
    const [started, end] = [gate(), gate()];
    const { world, engine, call, json } = await open({
      q: async (job) => {
        job.log('one \u0007line');
        job.progress(50);
        started.open();
        await end.opened;
        job.log('the last line');
      },
      hangs: () => new Promise(() => {}),
    });
    world.afterTest(() => end.open());
    const { id } = await engine.producer.enqueue('q', 0);
    await started.opened;

    const following = spawn(process.execPath, [main(), 'logs', String(id), '-f'], {
      env: environment({ SQL_QUEUE_URL: urlOf(world) }),
    });
    let out = '';
    following.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
      end.open();
    });
    const [code] = (await once(following, 'close')) as [number];

    expect({ code, lines: out.split('\n').length - 1 }).toEqual({ code: 0, lines: 2 });
    expect(out).toMatch(/ {2}one \ufffdline\n.* {2}the last line\n$/);
    expect((await call('logs', String(id))).out).toBe(out);
    const [{ id: waiting }] = [await engine.producer.enqueue('other', 0)];
    expect((await call('release', String(waiting), '--yes')).code).toBe(1);
    await engine.producer.enqueue('hangs', 0);
    const hanging = await eventually(
      async () => (await engine.admin.find({ queue: 'hangs', state: 'active' })).jobs[0],
    );
    engine.runner.pause('hangs');
    expect(await json('release', String(hanging.id), '--yes')).toEqual({ changed: 1 });
  });

  it('examines the database, and fails if there is a problem', async () => {
    const { world, engine, json, call } = await open();
    await engine.producer.enqueue('unserved', 0);

    const found = await call('doctor', '--account', 'migrator');
    const wrong = await call('doctor', '--account', 'anybody');

    expect(found).toMatchObject({ code: 1, err: expect.stringMatching(/^\d+ problems? found\.\n$/) });
    expect(found.out).toMatch(/^✓ tables: version \d+, with/m);
    expect(found.out).toMatch(/^✗ queues: unserved has no worker: 1 jobs wait.*\n {4}Start a process/m);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('got "anybody"') });
    expect((await json<{ statements: string[] }>('migrate', '--print')).statements).toEqual([]);
    expect(await world.sql('SELECT id FROM sql_queue_stats')).toEqual([]);
  });

  it('examines the folder of blobs if it is named', async () => {
    const { call } = await open();
    const missing = join(import.meta.dirname, 'missing');

    const found = await call('doctor', '--blobs', missing);
    const present = await call('doctor', '--blobs', import.meta.dirname);

    expect(found.out).toMatch(/^✗ blobs: .*missing: .*ENOENT.*\n {4}Create it, mount it, or change its owner\.$/m);
    expect(found.code).toBe(1);
    expect(present.out).toMatch(/^✓ blobs: .* can be written$/m);
  });

  it('prints the statements of a migration that create the tables', async () => {
    const world = await setup({ withoutTables: true });
    const printed = await cli({ SQL_QUEUE_URL: urlOf(world) }, ['migrate', '--print', '--json']);
    const { from, statements } = JSON.parse(printed.out) as { from: number; statements: string[] };

    for (const statement of statements) await world.sql(statement);
    const status = await cli({ SQL_QUEUE_URL: urlOf(world) }, ['status']);

    expect(from).toBe(0);
    expect(status).toMatchObject({ code: 0, out: 'No queues.\n' });
  });

  it('enqueues from an argument and from the standard input, pauses and resumes', async () => {
    const { world, engine, json } = await open();
    const env = { SQL_QUEUE_URL: urlOf(world) };

    const { id } = await json<{ id: number }>(
      'enqueue',
      'q',
      '{"to":"ann"}',
      '--name',
      'mail',
      '--delay',
      '1h',
      '--create',
      '--yes',
    );
    const piped = await cli(env, ['enqueue', 'q', '-', '--priority', '3', '--yes'], undefined, '[1]');
    await json('pause', 'q', '--yes');
    const paused = (await engine.admin.queues()).find(({ queue }) => queue === 'q')!.paused;
    await json('resume', '--all', '--yes');

    expect(await engine.admin.get(id)).toMatchObject({ name: 'mail', state: 'scheduled', payload: { to: 'ann' } });
    expect(piped).toMatchObject({ code: 0, out: expect.stringMatching(/^Job \d+ is in q\.\n$/) });
    expect(await engine.admin.get(id + 1)).toMatchObject({ payload: [1], priority: 3 });
    expect(paused).toBe(true);
    expect((await engine.admin.queues()).find(({ queue }) => queue === 'q')!.paused).toBe(false);
  });
});

describeEngines('the command groups', (setup) => {
  it('counts the active and waiting jobs of each group', async () => {
    const world = await setup();
    const [started, end] = [gate(), gate()];
    const handler = async () => {
      started.open();
      await end.opened;
    };
    const engine = await world.start({ handlers: { q: handler }, queues: { q: { groups: { concurrency: 1 } } } });
    world.afterTest(() => end.open());
    const job = { payload: 0, options: { group: 'ann' } };
    await engine.producer.enqueueMany('q', [job]);
    await started.opened;
    await engine.producer.enqueueMany('q', [job, job]);

    const { out } = await cli({ SQL_QUEUE_URL: urlOf(world) }, ['groups', 'q']);
    const listed = await cli({ SQL_QUEUE_URL: urlOf(world) }, ['groups', 'q', '--json']);

    expect(out).toMatch(/^GROUP +STATE +ACTIVE +WAITING +WEIGHT +RESTS UNTIL\nann +\w+ +1 +2 +1\n$/);
    expect(JSON.parse(listed.out)).toMatchObject({ groups: [{ counts: { active: 1, waiting: 2, scheduled: 0 } }] });
  });

  it('marks the number of waiting jobs if it is counted no further', async () => {
    const world = await setup();
    const engine = await world.start({ handlers: {}, queues: { q: { groups: { concurrency: 1 } } } });
    const job = { payload: 0, options: { group: 'ann' } };
    await engine.producer.enqueueMany(
      'q',
      Array.from({ length: 1_001 }, () => job),
    );
    await engine.admin.group('q', 'ann').pause();

    const { out } = await cli({ SQL_QUEUE_URL: urlOf(world) }, ['groups', 'q']);

    expect(out).toMatch(/^GROUP .*\nann +paused +0 +1000\+ +1\n$/);
  });
});

describeEngines('the command enqueue', (setup) => {
  it('leaves an entry in the audit, and fails if another job owns the key', async () => {
    const world = await setup();
    const engine = await world.start({ autoStart: false });
    const call = (payload: string) =>
      cli({ SQL_QUEUE_URL: urlOf(world) }, ['enqueue', 'q', payload, '--key', 'k', '--create', '--yes']);

    const first = await call('{"v":1}');
    const second = await call('{"v":2}');

    const jobs = await world.sql<{ id: number }>('SELECT id FROM sql_queue_jobs');
    expect(first).toEqual({ code: 0, err: '', out: `Job ${jobs[0]!.id} is in q.\n` });
    expect(second).toEqual({ code: 1, out: '', err: expect.stringContaining('"k"') });
    expect(jobs).toHaveLength(1);
    const { entries } = await engine.admin.audit();
    expect(entries).toMatchObject([{ verb: 'enqueue', queue: 'q', by: expect.stringMatching(/^cli:/) }]);
  });
});

describeEngines('the reading commands', (setup, server) => {
  it('show history, flows, groups and schedules, with an account that may only read', async () => {
    const world = await setup();
    const engine = await world.start({ handlers: { q: () => 0 }, queues: { q: { groups: { concurrency: 1 } } } });
    await engine.producer.enqueue('q', 0, { group: 'ann' });
    await engine.events.until('completed');
    const flow = await engine.producer.flow((f) => f.add('later', 0, { after: f.add('later', 0) }));
    await engine.schedules.upsert('nightly', { queue: 'later', cron: '0 3 * * *', tz: 'UTC' });
    await engine.close();
    const url =
      server.name === 'sqlite' ? urlOf(world) : ((await account(world, 'reader')).options as { url: string }).url;
    const read = (...args: string[]) => cli({ SQL_QUEUE_URL: url }, args);

    expect((await read('metrics')).out).toMatch(/^sql_queue_jobs_waiting\{queue="later"\} 1$/m);
    expect((await read('status')).out).toMatch(/^QUEUE .*\nlater .*\nq /s);
    expect((await read('history', 'q')).out).toMatch(/COMPLETED .*\ncompleted  █\nfailed     ▁\n/s);
    expect((await read('groups', 'q')).out).toMatch(/^GROUP .*\nann +idle +0 +0 /s);
    expect((await read('flow', String(flow.id))).out).toMatch(/^ID .*\n.* waiting\n.* blocked +\d+ \(not ended\)\n$/s);
    expect((await read('list', 'later')).code).toBe(0);
    expect((await read('workers')).code).toBe(0);
    expect((await read('schedules')).out).toContain('nightly');
    const paused = await cli({ SQL_QUEUE_URL: urlOf(world) }, ['schedules', 'pause', 'nightly', '--yes']);
    expect(paused).toMatchObject({ code: 0, out: 'The schedule nightly is paused.\n' });
    expect((await read('schedules')).out).toMatch(/nightly .* paused /);
    const run = await cli({ SQL_QUEUE_URL: urlOf(world) }, ['schedules', 'run', 'nightly', '--yes']);
    expect(run.out).toMatch(/^Job \d+ of the schedule nightly is enqueued\.\n$/);
  });
});

describe('the command line', () => {
  it('asks for a URL, and never shows the one that it has', async () => {
    const missing = await cli({}, ['status']);
    const wrong = await cli({ SQL_QUEUE_URL: 'postgres://ann:secret@127.0.0.1/app' }, ['status']);
    const refused = await cli({ SQL_QUEUE_URL: 'mysql://ann:secret@127.0.0.1:1/app' }, ['status']);

    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('SQL_QUEUE_URL or --url, got none') });
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('mysql:, mariadb: or sqlite:') });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('ECONNREFUSED') });
    expect(`${wrong.err}${refused.err}`).not.toContain('secret');
  });

  it('creates a file and the tables only with migrate', async () => {
    const file = join(folder, 'new.sqlite');

    const status = await cli({ SQL_QUEUE_URL: `sqlite:${file}` }, ['status']);
    const migrated = await cli({}, ['migrate', '--url', `sqlite:${file}`]);
    const after = await cli({ SQL_QUEUE_URL: `sqlite:${file}` }, ['status']);

    expect(status.code).toBe(1);
    expect(migrated).toMatchObject({ code: 0, out: expect.stringMatching(/^The tables have version \d+\.\n$/) });
    expect(after).toMatchObject({ code: 0, out: 'No queues.\n' });
  });

  it.each([
    ['without a command', [], 0, /^Usage: nestjs-sql-queue <command>/],
    ['for the help of a command', ['list', '--help'], 0, /^Usage: nestjs-sql-queue list \[queue\]/],
    ['for an unknown command', ['lst'], 2, /^unknown command "lst", did you mean "list"\?/],
    ['for an unknown option', ['list', '--que', 'q'], 2, /Unknown option '--que'/],
    ['for a wrong number of arguments', ['show'], 2, /^expected nestjs-sql-queue show <id>/],
    ['for an invalid id', ['show', '7x'], 2, /^expected the id of a job to be a whole number/],
    ['for an invalid state', ['list', 'q', 'done'], 2, /^expected a state \(/],
    ['for an invalid queue', ['status', 'a b'], 2, /expected queue to be/],
    ['for an invalid payload', ['enqueue', 'q', '{', '--yes'], 2, /^the payload: expected JSON/],
    ['for no selection', ['remove', '--yes'], 2, /^expected either ids of jobs, or options/],
    ['for two selections', ['remove', '7', '--all', '--yes'], 2, /^expected either ids of jobs, or options/],
    ['for a change without a terminal and without --yes', ['remove', '--all'], 2, /^expected --yes, because/],
    ['for an unknown job', ['show', '123456'], 1, /^There is no job 123456/],
  ])('answers with an exit code and a message %s', async (_, args, code, message) => {
    const env = { SQL_QUEUE_URL: `sqlite:${join(folder, 'cases.sqlite')}` };
    await cli(env, ['migrate']);

    const ended = await cli(env, args);

    expect(ended.code).toBe(code);
    expect(code === 0 ? ended.out : ended.err).toMatch(message);
    expect(code === 0 ? ended.err : ended.out).toBe('');
  });

  it('asks before it changes anything, and takes no for an answer', async () => {
    const env = { SQL_QUEUE_URL: `sqlite:${join(folder, 'asked.sqlite')}` };
    await cli(env, ['migrate']);
    await cli(env, ['enqueue', 'q', '1', '--create', '--yes']);

    const no = await cli(env, ['remove', '--queue', 'q'], 'n\n');
    const yes = await cli(env, ['remove', '--queue', 'q'], 'y\n');

    expect(no).toMatchObject({ code: 1, out: '' });
    expect(no.err).toMatch(/^Remove 1 job\? \[y\/N\] .*Nothing is changed\.\n$/s);
    expect(yes).toMatchObject({ code: 0, out: 'Remove: 1 job changed.\n' });
  });

  it('changes nothing if the input ends at the question', async () => {
    const env = { SQL_QUEUE_URL: `sqlite:${join(folder, 'ended.sqlite')}` };
    await cli(env, ['migrate']);
    await cli(env, ['enqueue', 'q', '1', '--create', '--yes']);
    const ask = async (input: Readable) => {
      let err = '';
      const writeError = (text: string) => void (err += text);
      const code = await run(['remove', '--queue', 'q'], env, {
        ...{ input, isInteractive: true, rows: () => 10, write: () => {}, writeError },
      });
      return { code, err };
    };
    const ended = Readable.from([]);
    ended.resume();
    await once(ended, 'end');

    const atQuestion = await ask(Readable.from([]));
    const before = await ask(ended);

    expect(atQuestion).toEqual({ code: 1, err: 'Remove 1 job? [y/N] Nothing is changed.\n' });
    expect(before).toEqual({ code: 1, err: expect.stringMatching(/Nothing is changed\.\n$/) });
  });

  it.each([
    ['enqueue', ['enqueue', 'q', '-', '--create'], 'payload'],
    ['signal', ['signal', 'go', 'key', '-'], 'data'],
  ])('demands --yes of %s if its JSON comes from the standard input', async (_, args, what) => {
    const env = { SQL_QUEUE_URL: `sqlite:${join(folder, 'typed.sqlite')}` };
    await cli(env, ['migrate']);

    const typed = await cli(env, args, '1\n');

    expect(typed).toMatchObject({ code: 2, out: '' });
    expect(typed.err).toContain(`expected --yes, because the standard input has the ${what}`);
  });

  it('draws the busiest queues first until q is pressed', async () => {
    const env = { SQL_QUEUE_URL: `sqlite:${join(folder, 'top.sqlite')}`, NO_COLOR: '1' };
    await cli(env, ['migrate']);
    await cli(env, ['enqueue', 'a', '1', '--delay', '1h', '--create', '--yes']);
    await cli(env, ['enqueue', 'busy', '1', '--create', '--yes']);
    const input = new PassThrough();
    let drawn = '';

    const code = await run(['top'], env, {
      input,
      isInteractive: true,
      rows: () => 10,
      writeError: () => {},
      write: (text) => {
        drawn += text;
        if (text.includes('busy')) input.write('q');
      },
    });

    expect(code).toBe(0);
    expect(drawn).toMatch(/q leaves\r\n\r\nQUEUE .*\r\nbusy .*\r\na /s);
    expect(drawn.endsWith('\u001b[?1049l')).toBe(true);
    expect((await cli(env, ['top'])).code).toBe(2);
    const toFile = { input: new PassThrough(), isInteractive: true, rows: () => undefined };
    expect(await run(['top'], env, { ...toFile, write: () => {}, writeError: () => {} })).toBe(2);
  });

  it('accepts each call of the guide', async () => {
    const guide = readFileSync(join(root, 'docs/cli.md'), 'utf8');
    const env = { SQL_QUEUE_URL: `sqlite:${join(folder, 'guide.sqlite')}` };
    await cli(env, ['migrate']);
    const calls = [...guide.matchAll(/^npx nestjs-sql-queue (.*)$/gm)].map(([, args]) => args!.split(' '));

    const refused: string[] = [];
    for (const args of calls) if ((await cli(env, args)).code === 2) refused.push(args.join(' '));

    expect(calls.length).toBeGreaterThan(3);
    expect(refused).toEqual([]);
  });

  it('runs as a program, with its exit code, and with a pipe that ends first', async () => {
    const env = { SQL_QUEUE_URL: `sqlite:${join(folder, 'program.sqlite')}` };

    const migrated = await cliProcess(env, 'migrate', '--json');
    const unknown = await cliProcess(env, 'lst');
    const head = spawn('sh', ['-c', `"${process.execPath}" "${main()}" --help | true; echo done`], {
      env: environment(env),
    });
    const [code] = (await once(head, 'exit')) as [number];

    expect(migrated.code).toBe(0);
    expect(JSON.parse(migrated.out)).toEqual({ version: schemaVersion() });
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(code).toBe(0);
  });
});
