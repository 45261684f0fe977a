import { join } from 'node:path';
import { ThreadPulse } from '../../lib/heartbeat/thread-pulse.js';
import { systemClock } from '../../lib/time/clock.js';
import { eventually } from '../support/eventually.js';

describe('the thread of a heartbeat', () => {
  it('is begun again until the process can have one', async () => {
    const missed: Error[] = [];
    const options: Record<string, unknown> = {
      type: 'better-sqlite3',
      database: join(import.meta.dirname, 'no such directory', 'file'),
    };
    const database = { options: options as never, tables: {} as never, hosts: {} as never };
    const pulse = new ThreadPulse(
      { ...database, shortestLeaseMs: 1_000, skewMs: 0 },
      1_000,
      // The pauses take no time.
      { ...systemClock, sleep: (_, signal) => systemClock.sleep(1, signal) },
      { workerId: 'w', everyMs: 1_000, onBeat: () => undefined, onMissed: (error) => missed.push(error as Error) },
    );
    const untilMissed = (isIt: (error: Error) => boolean) => eventually(() => missed.splice(0).some(isIt));
    const isRefusal = (error: Error) => error.name === 'DataCloneError';
    // What no thread can be given is refused as a thread is that cannot be had: before there is one.
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
