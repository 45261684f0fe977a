import { setImmediate } from 'node:timers/promises';
import { ChannelListener, ListenLoop, type ListenPause } from '../../lib/listen/listen-loop.js';
import type { NotificationChannel } from '../../lib/store/notifications/notification-channel.js';
import { FakeClock } from '../support/fake-clock.js';

const logger = { log: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

function channelOf(listen: NotificationChannel['listen']): NotificationChannel {
  return {
    findProblem: () => Promise.resolve(undefined),
    listen,
    disconnect: () => {},
  } as unknown as NotificationChannel;
}

function untilStopped(stop: AbortSignal): Promise<'none'> {
  return new Promise((resolve) => stop.addEventListener('abort', () => resolve('none')));
}

describe('a listener that pauses because no notification is needed', () => {
  it('listens if notifications become necessary at the moment at which the pause begins', async () => {
    let isNeeded = false;
    let listenCount = 0;
    const listener = new ChannelListener({
      channel: channelOf((_names, stop) => {
        listenCount++;
        return untilStopped(stop);
      }),
      clock: new FakeClock(),
      logger,
      name: 'n',
      gapMs: () => 0,
      onNotification: () => {},
      isNeeded: () => {
        const wasNeeded = isNeeded;
        queueMicrotask(() => {
          isNeeded = true;
          if (!wasNeeded) listener.listen();
        });
        return wasNeeded;
      },
    });

    listener.listen();
    await setImmediate();

    expect(listenCount).toBe(1);
    await listener.stop();
  });
});

describe('a listener whose connection fails again and again', () => {
  it('retries at growing intervals, also if it pauses between the attempts', async () => {
    const clock = new FakeClock();
    const turns: (() => Promise<ListenPause>)[] = [
      () => Promise.reject(new Error('gone')),
      () => Promise.resolve({ ms: 10, isResumable: true }),
      () => Promise.reject(new Error('gone')),
    ];
    const loop = new ListenLoop({
      channel: channelOf((_names, stop) => untilStopped(stop)),
      clock,
      logger,
      listen: () => turns.shift()!(),
      unsupportedMessage: () => '',
    });

    loop.start();
    for (const ms of [1_000, 10]) {
      await clock.untilSleeping(ms);
      await clock.advance(ms);
    }
    await setImmediate();

    expect(clock.sleeps).toEqual([1_000, 10, 2_000]);
    await loop.stop();
  });
});
