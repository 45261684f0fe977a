import { WaitNotifier } from './wait-notifier.js';
import { Waiter, type WaiterParts } from './waiter.js';

/** The waiter of this process, and the notifier of waiters in all processes. `close` also closes the channel. */
export function openWaiting(parts: WaiterParts) {
  const waiter = new Waiter(parts);
  const waitNotifier = new WaitNotifier({ store: parts.store, channel: parts.channel, waiter });
  return {
    waiter,
    waitNotifier,
    close: async () => {
      await waiter.close();
      await waitNotifier.idle();
      await parts.channel?.close();
    },
  };
}
