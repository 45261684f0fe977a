import { describeEngines } from '../support/engines.js';
import { killAtEachStatement } from '../support/killed-workers.js';
import { mainly } from '../support/servers.js';

/** Three jobs, one after them that fans out into two, and one after that. */
const RUN_ONCE = [0, 1, 2, 3, 4, 100, 101];

describeEngines(
  'flows',
  (setup) => {
    it('run each job once, after those that it needs, if the worker is killed after any statement', async () => {
      const runs = await killAtEachStatement(setup, {
        from: 'sql_queue_edges',
        enqueue: async ({ producer }) => {
          const { jobs } = await producer.flow((flow) => {
            const first = flow.addMany('q', [{ flow: 0 }, { flow: 1 }, { flow: 2 }]);
            const parent = flow.add('q', { flow: 3, children: 2 }, { after: first });
            flow.add('q', { flow: 4 }, { after: parent });
          });
          return jobs.at(-1)!.id;
        },
      });

      for (const [index, { log }] of runs.entries()) {
        const title = `killed after statement ${index + 1}: ${log.join()}`;
        expect([title, [...log].sort((a, b) => a - b)]).toEqual([title, RUN_ONCE]);
        const position = (job: number) => log.indexOf(job);
        const isOrdered =
          Math.max(...[0, 1, 2].map(position)) < Math.min(position(100), position(101)) &&
          Math.max(position(100), position(101)) < position(3) &&
          position(3) < position(4);
        expect([title, isOrdered]).toEqual([title, true]);
      }
      expect(runs.filter(({ wasKilled }) => wasKilled).length).toBeGreaterThan(30);
    }, 1_800_000);
  },
  mainly('mariadb'),
);
