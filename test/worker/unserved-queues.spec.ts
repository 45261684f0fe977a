import { setImmediate } from 'node:timers/promises';
import { MissingPrivilegeError } from '../../lib/job/errors.js';
import { describeEngines, type World } from '../support/engines.js';
import type { Engine } from '../support/engine.js';
import { FakeClock } from '../support/fake-clock.js';

const LOOK_MS = 30_000;

/** A process without handlers. `look` lets it look for workers once, and resolves after that. */
async function producer(world: World, queues: Record<string, { expectWorker?: boolean }> = {}) {
  const clock = new FakeClock();
  const engine = await world.start({ clock, queues });
  const reads = vi.spyOn(engine.opened.stores.queues, 'readService');
  const look = async () => {
    await clock.untilSleeping(LOOK_MS);
    await clock.advance(LOOK_MS);
    await reads.mock.results.at(-1)!.value.catch(() => undefined);
    await setImmediate();
  };
  return { ...engine, clock, reads, look };
}

const warnings = ({ log }: Pick<Engine, 'log'>) => log.filter((line) => line.startsWith('warn'));

describeEngines('a process that enqueues', (setup) => {
  it('warns once of a queue without a worker in any process, with the queue that it probably means', async () => {
    const world = await setup();
    await world.start({ handlers: { 'email.send': () => undefined } });
    const process = await producer(world);

    await process.producer.enqueue('email.sned', 1);
    await process.producer.enqueue('email.sned', 1);
    await process.look();
    const afterFirstLook = warnings(process);
    await process.look();
    await process.producer.enqueue('email.sned', 1);

    expect(afterFirstLook).toEqual([]);
    expect(warnings(process)).toEqual([
      `warn: No worker of any process has served queue "email.sned" for a minute, and this process enqueues jobs into it, did you mean ` +
        `"email.send"? Correct the name, or start a worker with a handler for the queue: @QueueProcessor('email.sned') in a class ` +
        `that a module provides. If people or other programs take its jobs, set queues: { 'email.sned': { expectWorker: false } }.`,
    ]);
    expect(process.reads).toHaveBeenCalledTimes(2);
    expect(process.clock.sleeperCount).toBe(0);
  });

  it('warns of a queue whose last worker has stopped, without a suggestion', async () => {
    const world = await setup();
    const worker = await world.start({ handlers: { mail: () => undefined } });
    await worker.runner.stop();
    const process = await producer(world);

    await process.producer.enqueue('mail', 1);
    await process.look();
    await process.look();

    expect(warnings(process)).toEqual([
      expect.stringMatching(/served queue "mail" for a minute, .* into it\. Correct/),
    ]);
  });

  it('does not warn of a queue that a worker of another process serves, and reads once', async () => {
    const world = await setup();
    await world.start({ handlers: { mail: () => undefined } });
    const process = await producer(world);

    await process.producer.enqueue('mail', 1);
    await process.look();
    await process.producer.enqueue('mail', 1);

    expect(warnings(process)).toEqual([]);
    expect(process.reads).toHaveBeenCalledTimes(1);
    expect(process.clock.sleeperCount).toBe(0);
  });

  it('does not warn of a queue whose worker starts between two looks', async () => {
    const world = await setup();
    const process = await producer(world);

    await process.producer.enqueue('mail', 1);
    await process.look();
    // Its clock is ahead like that of the database, which the process sees.
    world.advance(LOOK_MS);
    await world.start({ handlers: { mail: () => undefined } });
    await process.look();

    expect(warnings(process)).toEqual([]);
  });

  it('reads nothing for queues that it serves itself, or that need no worker', async () => {
    const world = await setup();
    const process = await producer(world, { photos: { expectWorker: false } });
    const worker = await world.start({ handlers: { mail: () => undefined } });
    const reads = vi.spyOn(worker.opened.stores.queues, 'readService');

    await process.producer.enqueue('photos', 1);
    await worker.producer.enqueue('mail', 1);

    expect(process.clock.sleeperCount).toBe(0);
    expect(worker.notifier.serves('mail')).toBe(true);
    expect(reads).not.toHaveBeenCalled();
  });

  it('does not warn of a queue whose jobs people take, in this process or in another one', async () => {
    const world = await setup();
    const other = await world.start({});
    const process = await producer(world);
    const { id } = await other.producer.enqueue('photo.review', 1);
    await other.consumer.claim('photo.review', { owner: 'ann' });
    await other.consumer.complete(id, { owner: 'ann' });

    await process.producer.enqueue('photo.review', 1);
    await process.producer.enqueue('text.review', 1);
    await process.consumer.claim('text.review', { owner: 'ann' });
    await process.look();

    expect(warnings(process)).toEqual([]);
    expect(process.reads).toHaveBeenCalledExactlyOnceWith(['photo.review']);
  });

  it('does not warn of a job whose transaction rolls back', async () => {
    const world = await setup();
    const process = await producer(world);

    await world.dataSource
      .transaction(async (manager) => {
        await process.producer.enqueue('mail', 1, { manager });
        throw new Error('no job');
      })
      .catch(() => undefined);

    expect(process.clock.sleeperCount).toBe(0);
  });

  it('looks again after an outage, and logs nothing about it', async () => {
    const world = await setup();
    const process = await producer(world);
    process.reads.mockRejectedValueOnce(new Error('away'));

    await process.producer.enqueue('mail', 1);
    await process.look();
    await process.look();
    const beforeSecondAnswer = warnings(process);
    await process.look();

    expect(beforeSecondAnswer).toEqual([]);
    expect(warnings(process)).toHaveLength(1);
  });

  it('looks no more, and says so once, if its account may not read this', async () => {
    const world = await setup();
    const process = await producer(world);
    process.reads.mockRejectedValue(new MissingPrivilegeError('SELECT command denied'));

    await process.producer.enqueue('mail', 1);
    await process.look();
    await process.producer.enqueue('mail', 1);
    await process.producer.enqueue('print', 1);

    expect(process.reads).toHaveBeenCalledTimes(1);
    expect(process.clock.sleeperCount).toBe(0);
    expect(warnings(process)).toEqual([
      expect.stringMatching(
        /^warn: This process does not warn of queues without a worker\. .*SELECT command denied.* `defaults: \{ expectWorker: false \}`/,
      ),
    ]);
  });

  it('looks no more after it has closed', async () => {
    const world = await setup();
    const process = await producer(world);
    await process.producer.enqueue('mail', 1);
    await process.clock.untilSleeping(LOOK_MS);

    await process.close();

    expect(process.clock.sleeperCount).toBe(0);
    expect(process.reads).not.toHaveBeenCalled();
  });
});
