import { describeEngines, gate, plainJobs } from '../support/engines.js';
import { interceptingDriver } from '../support/intercepting-driver.js';

describeEngines(
  'due jobs that an open transaction has locked',
  (setup) => {
    it('neither delay the due jobs of other queues nor keep the worker busy', async () => {
      const world = await setup();
      const [locked, done] = [gate(), gate()];
      let surveys = 0;
      const driver = interceptingDriver((sql) => {
        if (sql.includes('AS due_in') && sql.includes('AS waiting')) surveys++;
        return Promise.resolve();
      });
      const { producer } = await world.start({ autoStart: false });
      await producer.enqueueMany('locked', plainJobs(600, { delay: 1 }));
      await producer.enqueue('free', 0, { delay: '1s' });
      const holding = world.dataSource.transaction('READ COMMITTED', async (manager) => {
        await manager.query(`SELECT id FROM sql_queue_jobs FORCE INDEX (PRIMARY) WHERE id <= 600 FOR UPDATE`);
        locked.open();
        await done.opened;
      });
      await locked.opened;

      // A worker that polls once an hour runs the job in time only if it knows when it is due.
      const { events } = await world.start({
        dataSource: await world.connect({ driver }),
        worker: { poll: { min: '1h', max: '1h' } },
        handlers: { free: () => 'done', locked: () => 'done' },
      });
      await events.until('completed', { queue: 'free' });
      done.open();
      await holding;

      expect(events.of('started')).toHaveLength(1);
      expect(surveys).toBeLessThan(20);
    });
  },
  ['mysql', 'mariadb'],
);
