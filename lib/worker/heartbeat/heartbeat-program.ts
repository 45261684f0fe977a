import { workerData } from 'node:worker_threads';
import { LoopHeartbeat } from './heartbeat.js';
import { openLeaseStore } from '../../store/open-lease-store.js';
import { sharedMonotonic, systemClock } from '../../common/clock.js';
import type { MessageFromThread, ThreadSettings, MessageToThread } from './thread-heartbeat.js';

const { database, workerId, intervalMs, maxBlockedMs, port, loopTurns } = workerData as ThreadSettings;
const send = (message: MessageFromThread) => port.postMessage(message);

let lastTurn = -1;
let lastTurnAt = sharedMonotonic();

/** Throws if the event loop is blocked for too long, so that a process in an endless loop loses its jobs. */
function requireLiveEventLoop(): void {
  const currentTurn = Atomics.load(loopTurns, 0);
  if (currentTurn !== lastTurn) {
    lastTurn = currentTurn;
    lastTurnAt = sharedMonotonic();
  }
  const blockedMs = sharedMonotonic() - lastTurnAt;
  if (blockedMs > maxBlockedMs) throw new Error(`the event loop has been blocked for ${Math.round(blockedMs)} ms`);
}

async function main(): Promise<void> {
  const store = await openLeaseStore(database);
  const leaseStore = {
    extend: async (ids: readonly number[]) => {
      requireLiveEventLoop();
      return store.extend(ids);
    },
  };
  const claimIds = new Set<number>();
  const heartbeat = new LoopHeartbeat(
    leaseStore,
    store,
    { ...systemClock, monotonic: sharedMonotonic },
    {
      workerId,
      intervalMs,
      claimIds: () => [...claimIds],
      onResult: (result) => send({ result }),
      onUnregistered: () => send({ isUnregistered: true }),
      onError: (error) => send({ error: (error as Error).message }),
    },
  );
  port.on('message', (message: MessageToThread) => {
    if ('add' in message) claimIds.add(message.add);
    else if ('remove' in message) claimIds.delete(message.remove);
    else heartbeat.renewNow();
  });
  port.on('close', () => void heartbeat.stop().then(() => store.close()));
  heartbeat.start();
}

void main();
