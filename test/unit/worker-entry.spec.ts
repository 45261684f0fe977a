import type { WorkerRegistry } from '../../lib/store/features/workers/worker-registry.js';
import { WorkerEntry } from '../../lib/worker/worker-entry.js';
import { gate } from '../support/engines.js';

describe('the row of a worker', () => {
  function setup(given: Partial<WorkerRegistry> = {}) {
    const calls: string[] = [];
    const record = (call: string) => () => Promise.resolve(void calls.push(call));
    const workers: WorkerRegistry = {
      register: record('register'),
      setQueues: record('setQueues'),
      markSeen: () => Promise.resolve(false),
      deregister: record('deregister'),
      ...given,
    };
    const registration = () => ({ id: 'w', host: 'here', pid: 1, queues: new Map([['q', 1]]) });
    return { calls, entry: new WorkerEntry(workers, registration, record('declare')) };
  }

  it('is not added again after it is deleted, whenever a heartbeat has found none', async () => {
    const { open, opened } = gate();
    const begun = gate();
    const { calls, entry } = setup({
      async register() {
        begun.open();
        await opened;
        calls.push('register');
      },
    });
    entry.restore();
    await begun.opened;

    const deregistered = entry.deregister();
    entry.restore();
    open();
    await deregistered;
    entry.restore();
    await entry.save();

    expect(calls).toEqual(['declare', 'register', 'deregister']);
  });

  it('is added again by the next heartbeat if that fails, and has the queues of that time', async () => {
    let fails = true;
    const { calls, entry } = setup({
      register: () => (fails ? Promise.reject(new Error('no answer')) : Promise.resolve(void calls.push('register'))),
    });
    entry.restore();
    await entry.save();

    fails = false;
    entry.restore();
    await entry.save();

    expect(calls).toEqual(['declare', 'setQueues', 'declare', 'register', 'setQueues']);
  });
});
