import { AwaitedJobs } from '../runtime/awaited-jobs.js';
import { Waiter, type WaiterParts } from './waiter.js';

/** Both ends of waiting: who waits in this process, and what ends here that somebody waits for. */
export function openWaiting(parts: WaiterParts) {
  const waiter = new Waiter(parts);
  const awaited = new AwaitedJobs({ store: parts.store, bell: parts.bell, waiter });
  return {
    waiter,
    awaited,
    close: async () => {
      await waiter.close();
      await awaited.idle();
      await parts.bell?.close();
    },
  };
}
