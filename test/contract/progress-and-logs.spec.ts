import { Logger } from '@nestjs/common';
import { WaitNotifier } from '../../lib/listen/wait-notifier.js';
import { JobLogWriter } from '../../lib/worker/run/job-log-writer.js';
import type { JobLogEntry } from '../../lib/store/features/logs/job-log-store.js';
import { gate } from '../support/engines.js';
import { FakeClock } from '../support/fake-clock.js';
import { finalBatchOf, LEASE_MS, outcomes, rescueRules } from '../support/jobs.js';
import { interceptingDriver } from '../support/intercepting-driver.js';
import { countRemainingRows } from '../support/remaining-rows.js';
import { describeStores, describeStoresOf, type World } from '../support/stores.js';

const PAGE = { order: 'oldest', limit: 1_000 } as const;

describeStores('the progress and the log lines of a job', (setup) => {
  async function running(world: World, given = {}) {
    const [jobId] = await world.put(given);
    const taken = await world.claim();
    const say = (value: string | undefined, ...texts: string[]) =>
      world.jobLogs.writeJobLogs([
        { jobId: jobId!, claimId: taken.id, value, lines: texts.map((text) => ({ text, agoMs: 0 })) },
      ]);
    return { jobId: jobId!, taken, say };
  }

  it('are stored with the job as the last progress and all lines in order', async () => {
    const world = await setup();
    const { jobId, taken, say } = await running(world);

    await say('{"percent":10}', 'first', 'second');
    await say(undefined, 'third');
    const live = await world.admin.get(jobId);
    await say('{"percent":100}');
    await world.jobs.complete(finalBatchOf(taken));

    expect(live).toMatchObject({ state: 'active', progress: { percent: 10 } });
    expect(await world.admin.get(jobId)).toMatchObject({ state: 'completed', progress: { percent: 100 } });
    expect(await world.jobLogs.progressOf([jobId, 4_711])).toEqual(new Map([[jobId, '{"percent":100}']]));
    const lines = await world.admin.logs(jobId, PAGE);
    expect(lines.map(({ number, line }) => [number, line])).toEqual([
      [1, 'first'],
      [2, 'second'],
      [3, 'third'],
    ]);
    expect(lines[0]!.at).toBeInstanceOf(Date);
    expect(await world.admin.logs(jobId, { order: 'oldest', after: [1], limit: 1 })).toMatchObject([
      { line: 'second' },
    ]);
  });

  it('are deleted with a removed job, and with no other job', async () => {
    const world = await setup();
    const waiting = await running(world);
    const finished = await running(world);
    const stays = await running(world);
    for (const { say } of [waiting, finished, stays]) await say('1', 'first', 'second');
    await world.jobs.complete(finalBatchOf(waiting.taken, outcomes.release));
    await world.jobs.complete(finalBatchOf(finished.taken));

    await world.admin.remove([waiting.jobId, finished.jobId, stays.jobId]);

    expect(await countRemainingRows(world, 'progress', 'logs')).toEqual({ progress: 1, logs: 2 });
    expect(await world.admin.logs(stays.jobId, PAGE)).toHaveLength(2);
  });

  it('continue in the next attempt', async () => {
    const world = await setup();
    const { jobId, taken, say } = await running(world);
    await say('1', 'of the first run');
    await world.jobs.complete(finalBatchOf(taken, outcomes.retry));
    const again = await world.claim();

    await world.jobLogs.writeJobLogs([
      { jobId, claimId: again.id, value: undefined, lines: [{ text: 'of the second', agoMs: 0 }] },
    ]);

    expect((await world.admin.logs(jobId, PAGE)).map(({ line }) => line)).toEqual([
      'of the first run',
      'of the second',
    ]);
    expect(await world.admin.get(jobId)).toMatchObject({ progress: 1 });
  });

  it('include at most a thousand lines', async () => {
    const world = await setup();
    const { jobId, say } = await running(world);

    for (let n = 0; n < 3; n++) await say(undefined, ...Array.from({ length: 400 }, (_, i) => `${400 * n + i}`));

    const lines = await world.admin.logs(jobId, PAGE);
    expect([lines.length, lines.at(-1)]).toEqual([1_000, expect.objectContaining({ number: 1_000, line: '999' })]);
  });

  it('are stored for many jobs with many short lines in one call', async () => {
    const world = await setup();
    const runs = [];
    for (let n = 0; n < 12; n++) runs.push(await running(world));
    const lines = Array.from({ length: 1_000 }, () => ({ text: 'x', agoMs: 0 }));

    await world.jobLogs.writeJobLogs(
      runs.map(({ jobId, taken }) => ({ jobId, claimId: taken.id, value: undefined, lines })),
    );

    expect(await countRemainingRows(world, 'progress', 'logs')).toEqual({ progress: 12, logs: 12_000 });
  });

  it.each(['rescued', 'completed'])('are not stored once the job is %s', async (how) => {
    const world = await setup();
    const { taken, say } = await running(world);
    world.advance(LEASE_MS);
    if (how === 'rescued') await world.jobs.rescue(rescueRules());
    else await world.jobs.complete(finalBatchOf(taken));

    await say('1', 'too late');

    expect(await countRemainingRows(world, 'progress', 'logs')).toEqual({});
  });

  it('are stored after the lease has expired, while no rescue has taken the job', async () => {
    const world = await setup();
    const { say } = await running(world);
    world.advance(LEASE_MS);

    await say('1', 'late');

    expect(await countRemainingRows(world, 'progress', 'logs')).toEqual({ progress: 1, logs: 1 });
  });

  it('are stored before the attempts end, even if two attempts end during another write', async () => {
    const world = await setup();
    const [begun, going] = [gate(), gate()];
    const order: string[] = [];
    const trace = async (given: readonly JobLogEntry[]) => {
      begun.open();
      await going.opened;
      await world.jobLogs.writeJobLogs(given);
      order.push('written');
    };
    const awaited = new WaitNotifier(world.waits, undefined, { name: '', waits: new Map(), onNotification: () => {} });
    const logger = new Logger('test', { timestamp: false });
    const traces = new JobLogWriter({ ...world.jobLogs, writeJobLogs: trace }, awaited, new FakeClock(), logger);
    const runs = [await running(world), await running(world)].map(({ jobId, taken }) => ({
      ...{ job: { id: jobId }, claim: { id: taken.id } },
    }));
    traces.progress(runs[0]!, '"begun"');
    await begun.opened;
    for (const run of runs) traces.progress(run, '"done"');

    const ends = runs.map((run) => traces.finish(run).then(() => order.push('ended')));
    going.open();
    await Promise.all(ends);

    expect(order).toEqual(['written', 'written', 'ended', 'ended']);
    expect([...(await world.jobLogs.progressOf(runs.map(({ job }) => job.id))).values()]).toEqual(['"done"', '"done"']);
  });

  it('are deleted with the retention of the job, and not before', async () => {
    const world = await setup();
    const [kept, gone, live] = [await running(world), await running(world), await running(world)];
    for (const { say } of [kept, gone, live]) await say('1', 'line');
    await world.jobs.complete(finalBatchOf(kept.taken, outcomes.complete, { retentionMs: 3_600_000 }));
    await world.jobs.complete(finalBatchOf(gone.taken, outcomes.complete, { retentionMs: false }));
    const left = async () => [...(await world.jobLogs.progressOf([kept, gone, live].map(({ jobId }) => jobId))).keys()];

    await world.jobLogs.pruneJobLogs(10);
    const atOnce = await left();
    world.advance(600_001);
    expect(await world.jobLogs.pruneJobLogs(10)).toBe(3);
    const later = await left();
    world.advance(3_600_000);
    await world.jobs.prune(10);
    await world.jobLogs.pruneJobLogs(10);

    expect([atOnce.length, later]).toEqual([3, [kept.jobId, live.jobId]]);
    expect(await left()).toEqual([live.jobId]);
    expect(await countRemainingRows(world, 'progress', 'logs')).toEqual({ progress: 1, logs: 1 });
  });

  it('are deleted on request', async () => {
    const world = await setup();
    const { jobId, say } = await running(world);
    await say('1', 'line');

    await world.jobLogs.deleteJobLogs([jobId]);

    expect(await countRemainingRows(world, 'progress', 'logs')).toEqual({});
  });
});

describeStoresOf(['mysql', 'mariadb'], 'progress written during the loss of a lease', (setup) => {
  it.each([true, false])('is not stored if the next attempt has written first (lines: %o)', async (hasLines) => {
    const world = await setup();
    const [jobId] = await world.put({});
    const { id: claimId } = await world.claim();
    const line = (text: string) => ({ text, agoMs: 0 });
    let next: (() => Promise<void>) | undefined;
    const driver = interceptingDriver(async (sql) => {
      if (next || !/INTO sql_queue_progress/.test(sql)) return;
      world.advance(LEASE_MS);
      await world.jobs.rescue(rescueRules());
      const { id } = await world.claim();
      next = () => world.jobLogs.writeJobLogs([{ jobId: jobId!, claimId: id, value: '"next"', lines: [line('next')] }]);
      await next();
    });
    const { jobLogs } = await world.open({ dataSource: await world.connect({ driver }) });

    const lines = hasLines ? [line('late')] : [];
    await expect(jobLogs.writeJobLogs([{ jobId: jobId!, claimId, value: '"late"', lines }])).rejects.toThrow();
    await next!();

    expect(await world.admin.get(jobId!)).toMatchObject({ state: 'active', progress: 'next' });
    expect((await world.admin.logs(jobId!, PAGE)).map(({ number, line: text }) => [number, text])).toEqual([
      [1, 'next'],
      [2, 'next'],
    ]);
  });
});
