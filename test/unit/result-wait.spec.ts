import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ResultWait } from '../../lib/listen/result-wait.js';
import { FakeClock } from '../support/fake-clock.js';

async function collectGarbage(): Promise<void> {
  // Objects with a new WeakRef live until the end of the turn.
  await setImmediate();
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('waits for results that share a signal', () => {
  it('leave no listener at the signal when they have ended', async () => {
    const { signal } = new AbortController();
    const options = { timeoutMs: undefined, signal, onProgress: undefined };
    const waits = [1, 2, 3].map((id) => new ResultWait(id, 'q', options, new FakeClock()));
    const results = waits.map(({ result }) => result.catch((reason: unknown) => reason));

    await collectGarbage();
    waits.forEach((wait) => wait.reject('ended'));

    expect(await Promise.all(results)).toEqual(['ended', 'ended', 'ended']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
