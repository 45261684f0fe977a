import { claimRequest } from '../support/jobs.js';
import { describeEngines } from '../support/engines.js';

describeEngines('a worker whose server had its clock set back by two hours', (setup) => {
  it('runs the jobs of a dead worker one lease later', async () => {
    const world = await setup();
    const dead = await world.start({ autoStart: false });
    const { id } = await dead.producer.enqueue('q', 0);
    const strategy = world.server.name === 'sqlite' ? 'update' : 'skip-locked';
    await dead.store.claim(claimRequest({ leaseMs: 1_000, strategy }));

    world.advance(-7_200_000);
    const { events } = await world.start({ handlers: { q: () => 'done' } });
    await events.until('completed');

    expect(events.jobs('completed')).toEqual([id]);
  });
});
