import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MailSink } from '../../sample/01-signups/mail-sink.js';
import { freshDatabase, servers, type TestServer } from '../support/servers.js';
import { buildSample } from './built-sample.js';
import { SampleProcess } from './sample-process.js';

const csv = resolve(import.meta.dirname, '../../sample/01-signups/signups.csv');
const rows = readFileSync(csv, 'utf8').trimEnd().split('\n').slice(1);
const brokenLines = [17, 43, 68, 95, 131, 164, 198, 222, 257, 289, 318, 341, 376];

// The mail server decides by the domain of the address: see mail-sink.ts. A full mailbox is tried four times.
const good = rows.length - brokenLines.length;
const gone = countOf('gone.test');
const full = countOf('full.test');
const expected = {
  completed: good - gone - full,
  retried: countOf('greylist.test') + 3 * full,
  dead: gone + full,
};

let main: string;
let cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  main = await buildSample('01-signups');
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

describe('the signups sample', () => {
  it(
    'sends every mail of the file, and reports each broken line',
    onEveryServer(async ({ start }) => {
      const sample = start(['--once']);
      const end = await sample.ended;

      expect(end).toBe(0);
      expect(reportedBrokenLines(sample)).toEqual(brokenLines);
      expect(sample.output).toContain(`Read ${rows.length} rows: ${good} signed up, 0 already signed up, 13 broken.`);
      expect(summary(sample)).toEqual(expected);
      expect(sample.output.match(/dead letter: /g)).toHaveLength(expected.dead);
    }),
  );

  it(
    'shares the work of one database between two processes, and no mail arrives twice',
    onEveryServer(async ({ start }) => {
      const sink = await mailSink(50);

      const processes = [1, 2].map(() => start(['--once'], { SMTP_URL: sink.url }));
      const ends = await Promise.all(processes.map(({ ended }) => ended));

      const [one, two] = processes.map(summary) as [Summary, Summary];
      expect(ends).toEqual([0, 0]);
      expect(processes.reduce((sum, process) => sum + process.number(/(\d+) signed up,/), 0)).toBe(good);
      expect({
        completed: one.completed + two.completed,
        retried: one.retried + two.retried,
        dead: one.dead + two.dead,
      }).toEqual(expected);
      expect(Math.min(one.completed, two.completed)).toBeGreaterThan(0);
      expect(new Set(sink.delivered).size).toBe(expected.completed);
      expect(sink.delivered).toHaveLength(expected.completed);
    }),
  );

  it(
    'stops cleanly at Ctrl-C during its work, and the next start finishes it',
    onEveryServer(async ({ start, people }) => {
      const emails = Array.from({ length: 160 }, (_, i) => `ada${i}@example.com`);
      const file = await people(emails);
      // Twenty mails at a time, so the work is far from done when all rows are read. The mails that are on their way
      // when the process stops must arrive within the five seconds of its shutdown.
      const slow = await mailSink(1_500);
      const fast = await mailSink(0);

      const interrupted = start(['--once', file], { SMTP_URL: slow.url });
      await interrupted.until(/Read 160 rows/);
      interrupted.ctrlC();
      const end = await interrupted.ended;
      const next = start(['--once', file], { SMTP_URL: fast.url });
      const nextEnd = await next.ended;

      expect([end, nextEnd]).toEqual([0, 0]);
      expect(interrupted.number(/Stopped\. Mails left to send: (\d+)\. Start again to go on\.\n$/)).toBeGreaterThan(0);
      expect(next.output).toMatch(/Stopped\. Mails left to send: 0\.\n$/);
      expect(next.output).toContain('Read 160 rows: 0 signed up, 160 already signed up, 0 broken.');
      expect([...slow.delivered, ...fast.delivered].sort()).toEqual(emails.sort());
    }),
  );

  it(
    'signs up over HTTP, in one transaction with the mail, and serves until Ctrl-C',
    onEveryServer(async ({ start, people }) => {
      const sample = start([await people(['ada@example.com'])]);
      const [, url] = await sample.until(/Still serving at (\S+),/);
      const created = await post(`${url}/signups`, { email: 'Grace@Example.com', name: 'Grace' });
      await sample.until(/sent: job 2 to grace@example\.com/);
      const job = await fetch(url + String(created.body.welcomeMail)).then((answer) => answer.json());
      const again = await post(`${url}/signups`, { email: 'grace@example.com', name: 'Grace' });
      const wrong = await post(`${url}/signups`, { email: 'grace' });
      const counts = await fetch(`${url}/queue`).then((answer) => answer.json());
      sample.ctrlC();

      expect(created.status).toBe(201);
      expect(job).toMatchObject({ state: 'completed', payload: { email: 'grace@example.com', name: 'Grace' } });
      expect(again).toMatchObject({ status: 409, body: { message: 'grace@example.com has already signed up' } });
      expect(wrong.status).toBe(400);
      expect(wrong.body.message).toEqual([
        'expected email to be an address like ada@example.com, got "grace"',
        'expected name to have 1 to 100 characters, got nothing',
      ]);
      expect(counts).toMatchObject({ completed: 2, waiting: 0, scheduled: 0, active: 0, dead: 0 });
      expect(await sample.ended).toBe(0);
      expect(sample.output).toMatch(/Stopped\. Mails left to send: 0\.\n$/);
    }),
  );

  it('explains invalid settings in a line or two', async () => {
    const wrong: [Record<string, string>, RegExp][] = [
      [{ SMTP_URL: 'mail.example.com', PORT: 'http' }, /^SMTP_URL: expected .*\nPORT: expected .*\n$/],
      [{ DATABASE_URL: 'postgres://127.0.0.1/x' }, /^DATABASE_URL: expected something like mysql:.*\n$/],
      [{ DATABASE_URL: 'mysql://root:secret@127.0.0.1:1/x' }, /^Cannot use mysql:.*:\*\*\*@.* ECONNREFUSED .*\n.*\n$/],
      [{ SMTP_URL: 'smtp://127.0.0.1:1' }, /^Cannot reach the mail server .* ECONNREFUSED .*\n.*\n$/],
    ];
    const folder = await temporaryFolder();

    const samples = wrong.map(([env]) => start(folder, ['--once'], env));
    const ends = await Promise.all(samples.map(({ ended }) => ended));

    expect(ends).toEqual([1, 1, 1, 1]);
    for (const [i, [, message]] of wrong.entries()) expect(samples[i]!.output).toMatch(message);
  });

  it('uses another port if its own is taken', async () => {
    const folder = await temporaryFolder();
    const empty = await peopleIn(folder, []);

    const first = start(folder, [empty]);
    const [, port] = await first.until(/Listening +http:\/\/127\.0\.0\.1:(\d+)/);
    const second = start(folder, ['--once', empty], { PORT: port });

    expect(await second.ended).toBe(0);
    expect(second.output).toContain(`Port ${port} is taken`);
  });
});

type Summary = typeof expected;

interface World {
  start(args: string[], env?: Record<string, string>): SampleProcess;
  people(emails: string[]): Promise<string>;
}

/** Runs on all servers at the same time, because most of the time is spent waiting. */
function onEveryServer(scenario: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    await Promise.all(
      servers.map(async (server) => {
        const world = await setup(server);
        await scenario(world).catch((error: Error) => {
          error.message = `On ${server.name}: ${error.message}`;
          throw error;
        });
      }),
    );
  };
}

async function setup(server: TestServer): Promise<World> {
  const folder = await temporaryFolder();
  const database = await freshDatabase(server);
  cleanups.push(() => database.drop());
  const DATABASE_URL = 'url' in database.connection ? database.connection.url : undefined;
  return {
    start: (args, env) => start(folder, args, { DATABASE_URL, ...env }),
    people: (emails) => peopleIn(folder, emails),
  };
}

function start(cwd: string, args: string[], env: Record<string, string | undefined> = {}) {
  const sample = new SampleProcess({
    main,
    args,
    cwd,
    env: { DATABASE_URL: undefined, SMTP_URL: undefined, PORT: '0', ...env },
  });
  cleanups.push(async () => {
    sample.kill();
    await sample.ended;
  });
  return sample;
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sql-queue-signups-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function peopleIn(folder: string, emails: string[]): Promise<string> {
  const file = join(folder, 'people.csv');
  await writeFile(file, ['email,name', ...emails.map((email) => `${email},Ada`)].join('\n'));
  return file;
}

async function mailSink(latencyMs: number): Promise<MailSink> {
  const sink = await MailSink.start(latencyMs);
  cleanups.push(() => sink.close());
  return sink;
}

async function post(url: string, body: unknown) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

function summary(sample: SampleProcess): Summary {
  return {
    completed: sample.number(/^ {2}completed +(\d+)$/m),
    retried: sample.number(/^ {2}retried +(\d+)$/m),
    dead: sample.number(/^ {2}dead +(\d+)$/m),
  };
}

function reportedBrokenLines(sample: SampleProcess): number[] {
  return [...sample.output.matchAll(/^ {2}line (\d+): /gm)].map(([, line]) => Number(line));
}

function countOf(domain: string): number {
  return rows.filter((row) => row.includes(`@${domain},`)).length;
}
