import { workerData } from 'node:worker_threads';
import { LoopPulse } from '../runtime/pulse.js';
import { openLeases } from '../store/open-leases.js';
import { sharedMonotonic, systemClock } from '../time/clock.js';
import type { FromThread, ThreadSettings, ToThread } from './messages.js';

const { database, workerId, everyMs, maxBlockedMs, port, turns } = workerData as ThreadSettings;
const tell = (message: FromThread) => port.postMessage(message);

let turn = -1;
let turnedAt = sharedMonotonic();

/** A process whose event loop has stood still for so long must not keep its jobs for ever. */
function requireTurning(): void {
  const now = Atomics.load(turns, 0);
  if (now !== turn) {
    turn = now;
    turnedAt = sharedMonotonic();
  }
  const stoodMs = sharedMonotonic() - turnedAt;
  if (stoodMs > maxBlockedMs) throw new Error(`the event loop has stood still for ${Math.round(stoodMs)} ms`);
}

async function main(): Promise<void> {
  const store = await openLeases(database);
  const alive = {
    seen: (id: string) => store.seen(id),
    extend: async (ids: readonly number[]) => {
      requireTurning();
      return store.extend(ids);
    },
  };
  const pulse = new LoopPulse(
    alive,
    { ...systemClock, monotonic: sharedMonotonic },
    {
      ...{ workerId, everyMs },
      onBeat: (beat) => tell({ beat }),
      onMissed: (error) => tell({ missed: (error as Error).message }),
    },
  );
  port.on('message', (message: ToThread) => {
    if ('hold' in message) pulse.hold(message.hold);
    else pulse.letGo(message.letGo);
  });
  port.on('close', () => void pulse.stop().then(() => store.close()));
  pulse.start();
}

void main();
