import { describeEngines } from '../support/engines.js';
import { killAtEachStatement } from '../support/killed-workers.js';
import { isLongSet, mainly } from '../support/servers.js';

describeEngines(
  'steps',
  (setup) => {
    it('with a transaction run once, and others at most once more, if the worker is killed after any statement', async () => {
      const runs = await killAtEachStatement(setup, {
        from: 'sql_queue_steps',
        enqueue: async ({ producer }) => (await producer.enqueue('q', { steps: true })).id,
      });

      for (const [index, { log, wasKilled }] of runs.entries()) {
        const atMost = wasKilled ? 2 : 1;
        const title = `killed after statement ${index + 1}: ${log.join()}`;
        const wrong = [1, 2, 3, 4, 5].filter((step) => {
          const count = log.filter((one) => one === step).length;
          return count < 1 || count > (step % 2 ? atMost : 1);
        });
        expect([title, wrong]).toEqual([title, []]);
      }
      // Each step sends several statements, two of which write.
      expect(runs.filter(({ wasKilled }) => wasKilled).length).toBeGreaterThan(isLongSet ? 10 : 20);
    }, 1_800_000);
  },
  mainly('mysql'),
);
