import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { buildSample } from './built-sample.js';
import { PhotoPage } from './photo-page.js';
import { SampleProcess } from './sample-process.js';

interface Task {
  id: number;
  title: string;
  owner: string | null;
  result: { verdict: string; by: string } | null;
}

type Lists = Record<'waiting' | 'review' | 'taken' | 'putOff' | 'finished', Task[]> & { codeWorks: boolean };

let main: string;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  main = await buildSample('04-people');
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('the people sample', () => {
  it('lets people take, finish, put off and review photos, together with code', async () => {
    const { url, lists, post } = await start();
    const [first, second, third, fourth] = (await lists()).waiting.map(({ id }) => id);

    const page = await fetch(url).then((answer) => answer.text());
    await post(`tasks/${first}/take`, { owner: 'ann' });
    const tooLate = await post(`tasks/${first}/finish`, { owner: 'bob', verdict: 'fine' });
    await post(`tasks/${first}/finish`, { owner: 'ann', verdict: 'fine' });
    const next = await post('tasks/next', { owner: 'bob' });
    await post(`tasks/${second}/review`, { owner: 'bob' });
    await post(`tasks/${third}/take`, { owner: 'ann' });
    await post(`tasks/${third}/put-off`, { owner: 'ann' });
    await post(`tasks/${fourth}/take`, { owner: 'ann' });
    const byPeople = await lists();
    await post('code', { works: true });
    await eventually(async () => (await lists()).waiting.length === 0 && (await lists()).taken.length === 1);
    const withCode = await lists();
    await post(`tasks/${second}/accept`, { owner: 'rita', verdict: 'fine' });
    await post(`tasks/${fourth}/give-back`, { owner: 'ann' });
    await eventually(async () => (await lists()).finished.length === 5);
    const { finished, putOff, codeWorks } = await lists();

    expect(page).toContain('<h1>Photos to check</h1>');
    expect(tooLate).toMatchObject({
      status: 409,
      body: { code: 'JOB_NOT_ASSIGNED', message: expect.stringContaining('"ann" holds it') },
    });
    expect(next.body).toMatchObject({ id: second, owner: 'bob' });
    expect(byPeople).toMatchObject({
      codeWorks: false,
      review: [{ id: second }],
      taken: [{ id: fourth, owner: 'ann' }],
    });
    expect(withCode).toMatchObject({ review: [{ id: second }], taken: [{ id: fourth, owner: 'ann' }] });
    expect(codeWorks).toBe(true);
    expect(putOff.map(({ id }) => id)).toEqual([third]);
    expect(new Map(finished.map(({ id, result }) => [id, result!.by]))).toEqual(
      new Map([[first, 'ann'], [second, 'rita'], ...finished.slice(2).map(({ id }) => [id, 'code'] as const)]),
    );
  });

  it('continues after a restart, and rejects invalid requests with the reason', async () => {
    const one = await start();
    const { body } = await one.post('tasks/next', { owner: 'ann' });
    const wrong = await Promise.all([
      one.post('tasks/7/eat', { owner: 'ann' }),
      one.post('tasks/777/take', { owner: 'ann' }),
      one.post('tasks', { title: '' }),
    ]);
    one.sample.ctrlC();
    await one.sample.ended;

    const two = await start(one.cwd);
    const { taken, waiting } = await two.lists();

    expect(wrong.map(({ status }) => status)).toEqual([400, 404, 400]);
    expect(taken).toMatchObject([{ id: body['id'], owner: 'ann' }]);
    expect(waiting).toHaveLength(5);
  });
});

describe('the page of the people sample, in two browser windows,', () => {
  let browser: Browser;

  // Downloads the browser once if the machine has none.
  beforeAll(async () => {
    browser = await openBrowser();
  });

  afterAll(() => browser?.close());

  it('shows each person the photos of the other, and the first owner of a contested photo', async () => {
    const [ann, bob] = await people();
    const resumeUpdates = await bob.pauseUpdates();

    await ann.press('Take', 'A lake at dawn');
    const hers = await ann.untilShown('taken', 'A lake at dawn – ann');
    await bob.press('Take', 'A lake at dawn');
    const status = await bob.untilStatus();
    resumeUpdates();
    const his = await bob.untilShown('taken', 'A lake at dawn – ann');
    await ann.press('Fine', 'A lake at dawn');
    for (const person of [ann, bob]) await person.untilShown('finished', 'A lake at dawn – fine, said ann');

    expect(hers).toEqual(['Fine', 'Refuse', 'Tomorrow', 'To review', 'Give back']);
    expect(status).toContain('"ann" holds it');
    expect(his).toEqual([]);
    for (const person of [ann, bob]) {
      expect(await person.lists()).toEqual({
        waiting: ['Blurred bird', 'Two cats', 'A bridge in fog', 'Market day', 'Blurred train'],
        finished: ['A lake at dawn – fine, said ann'],
      });
      expect(person.errors).toEqual([]);
    }
  });

  it('lets people put photos off, and review photos of the other', async () => {
    const [ann, bob] = await people();

    await ann.takeNext();
    await ann.untilShown('taken', 'A lake at dawn – ann');
    await ann.press('Tomorrow', 'A lake at dawn');
    await bob.untilShown('putOff', 'A lake at dawn');
    await ann.takeNext();
    await ann.press('To review', 'Blurred bird – ann');
    const review = await bob.untilShown('review', 'Blurred bird');
    await bob.press('Accept', 'Blurred bird');
    await ann.untilShown('finished', 'Blurred bird – fine, said bob');
    await bob.press('Take', 'Two cats');
    await bob.press('To review', 'Two cats – bob');
    await ann.press('Send back', 'Two cats');
    await bob.untilShown('waiting', 'Two cats');
    await bob.press('Take now', 'A lake at dawn');
    await bob.untilShown('taken', 'A lake at dawn – bob');
    await bob.press('Give back', 'A lake at dawn');
    await bob.untilShown('waiting', 'A lake at dawn');

    expect(review).toEqual(['Accept', 'Send back']);
    expect(await bob.lists()).toEqual({
      waiting: ['A lake at dawn', 'Two cats', 'A bridge in fog', 'Market day', 'Blurred train'],
      finished: ['Blurred bird – fine, said bob'],
    });
    expect([...ann.errors, ...bob.errors]).toEqual([]);
  });

  it('shows input of people as text', async () => {
    const [ann, bob] = await people();
    const title = '<img src="/none" onerror="owner()()">';

    await ann.add(title);

    for (const person of [ann, bob]) {
      expect(await person.untilShown('waiting', title)).toEqual(['Take']);
      expect(person.errors).toEqual([]);
    }
  });

  async function people() {
    const { url } = await start();
    return [await PhotoPage.open(browser, url, 'ann'), await PhotoPage.open(browser, url, 'bob')] as const;
  }
});

async function start(folder?: string) {
  const cwd = folder ?? (await mkdtemp(join(tmpdir(), 'sql-queue-people-')));
  const sample = new SampleProcess({ main, args: [], cwd, env: { PORT: '0', DATABASE_URL: undefined } });
  cleanups.push(async () => {
    sample.kill();
    await sample.ended;
    await rm(cwd, { recursive: true, force: true });
  });
  const [, url] = await sample.until(/Open (\S+) in a browser/);
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${url}/${path}`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    });
    const text = await answer.text();
    return { status: answer.status, body: (text ? JSON.parse(text) : {}) as Record<string, unknown> };
  };
  const lists = async () => (await fetch(`${url}/tasks`).then((answer) => answer.json())) as Lists;
  return { sample, cwd, url: url!, post, lists };
}
