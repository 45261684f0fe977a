import type { QueueStats } from '../../lib/store/features/stats/stats-store.js';
import { DeadJobGroups } from '../../lib/extras/board/error-groups.js';
import { Redactor } from '../../lib/extras/dashboard/redactor.js';
import { FakeClock } from '../support/fake-clock.js';

/** The groups of queues with dead jobs, those with the most first. */
function groupsOf(queues: string[]) {
  const admin = {
    stats: () =>
      Promise.resolve(
        queues.map((queue, n) => ({ queue, dead: { value: 1_000 - n, atLeast: false } })) as unknown as QueueStats[],
      ),
    find: () => Promise.resolve({ jobs: [] }),
  };
  return new DeadJobGroups(admin, new Redactor(), new FakeClock());
}

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(4, '0')}`);

describe('the further queues with dead jobs', () => {
  it('are only those that the viewer may read, although another viewer reads anew meanwhile', async () => {
    const queues = [...names(50, 'read'), 'open', 'closed'];
    const groups = groupsOf(queues);
    const another: Promise<unknown>[] = [];

    const { others } = await groups.read(async (queue) => {
      if (queue === 'open') {
        queues.splice(50, 2, 'closed', 'open');
        groups.clear();
        another.push(groups.read(() => Promise.resolve(true)));
        await another[0];
      }
      return queue !== 'closed';
    });

    expect(another).toHaveLength(1);
    expect(others).toEqual(['open']);
  });

  it.each([
    ['none', 50, 0, false],
    ['ten', 60, 10, false],
    ['eleven', 61, 10, true],
    ['thousands', 3_000, 10, true],
  ])('are named up to ten of %s, and the rights of at most 50 are asked', async (_, count, named, hasMoreOthers) => {
    const asked: string[] = [];

    const found = await groupsOf(names(count, 'q')).read(async (queue) => {
      asked.push(queue);
      return true;
    });

    expect(found).toMatchObject({ others: names(60, 'q').slice(50, 50 + named), hasMoreOthers });
    expect(asked.length).toBeLessThanOrEqual(100);
  });
});
