import { setImmediate } from 'node:timers/promises';
import { Batcher } from '../../lib/common/batcher.js';
import { FakeClock } from '../support/fake-clock.js';

function setup(intervalMs?: number) {
  const clock = new FakeClock();
  const batches: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const flush = (items: readonly number[]) => {
    batches.push(items);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const batcher = new Batcher(flush, intervalMs === undefined ? undefined : { clock, intervalMs });
  return { batcher, batches, clock, endFlush: () => ends.shift()!() };
}

describe('Batcher', () => {
  it('flushes the items of one turn of the event loop together, each once', async () => {
    const { batcher, batches } = setup();

    void batcher.add(1);
    void batcher.add(2);
    void batcher.add(1);
    await setImmediate();
    await setImmediate();

    expect(batches).toEqual([[1, 2]]);
  });

  it('gathers the next batch while a flush is under way', async () => {
    const { batcher, batches, endFlush } = setup();
    const first = batcher.add(1);
    await setImmediate();
    await setImmediate();

    const second = [batcher.add(2), batcher.add(3)];
    await setImmediate();
    await setImmediate();
    const beforeEnd = [...batches];
    endFlush();
    await first;
    await setImmediate();
    await setImmediate();
    endFlush();
    await Promise.all(second);

    expect(beforeEnd).toEqual([[1]]);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('rejects for the items of the failed batch only', async () => {
    const batcher = new Batcher<number>(([item]) =>
      item === 1 ? Promise.reject(new Error('refused')) : Promise.resolve(),
    );

    const first = batcher.add(1);
    await expect(first).rejects.toThrow('refused');
    const second = batcher.add(2);

    await expect(second).resolves.toBeUndefined();
  });

  it('pauses between flushes, until the pause is over or `flushNow` is called', async () => {
    const { batcher, batches, clock, endFlush } = setup(500);
    const first = batcher.add(1);
    await setImmediate();
    await setImmediate();
    endFlush();
    await first;

    const second = batcher.add(2);
    await clock.untilSleeping(500);
    await clock.advance(500);
    await setImmediate();
    await setImmediate();
    endFlush();
    await second;
    const third = batcher.add(3);
    await clock.untilSleeping(500);
    const flushed = batcher.flushNow();
    await setImmediate();
    await setImmediate();
    endFlush();
    await Promise.all([third, flushed]);

    expect(batches).toEqual([[1], [2], [3]]);
    expect(clock.elapsedMs).toBe(500);
  });
});
