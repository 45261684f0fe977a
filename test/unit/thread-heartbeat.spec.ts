import { join } from 'node:path';
import { ThreadHeartbeat } from '../../lib/worker/heartbeat/thread-heartbeat.js';
import { systemClock } from '../../lib/common/clock.js';
import { eventually } from '../support/eventually.js';

describe('the heartbeat thread', () => {
  it('is started again until the process succeeds', async () => {
    const missed: Error[] = [];
    const options: Record<string, unknown> = {
      type: 'better-sqlite3',
      database: join(import.meta.dirname, 'no such directory', 'file'),
    };
    const database = { options: options as never, tables: {} as never, hosts: {} as never };
    const pulse = new ThreadHeartbeat(
      new URL('./no-such-program.js', import.meta.url),
      { ...database, shortestLeaseMs: 1_000, skewMs: 0 },
      1_000,
      // The pauses take no time.
      { ...systemClock, sleep: (_, signal) => systemClock.sleep(1, signal) },
      {
        workerId: 'w',
        intervalMs: 1_000,
        claimIds: () => [],
        onResult: () => undefined,
        onUnregistered: () => undefined,
        onError: (error) => missed.push(error as Error),
      },
    );
    const untilMissed = (isIt: (error: Error) => boolean) => eventually(() => missed.splice(0).some(isIt));
    const isRefusal = (error: Error) => error.name === 'DataCloneError';
    // A value that cannot be cloned makes the start of a thread fail.
    const refuse = () => (options['unfit'] = () => undefined);

    refuse();
    pulse.start();
    await untilMissed(isRefusal);
    delete options['unfit'];
    await untilMissed((error) => !isRefusal(error));
    refuse();
    await untilMissed(isRefusal);
    delete options['unfit'];
    await untilMissed((error) => !isRefusal(error));

    await pulse.stop();
  });
});
