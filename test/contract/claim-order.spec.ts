import { FakeClock } from '../support/fake-clock.js';
import { claimFrom, finalBatchOf, idsOf, outcomes } from '../support/jobs.js';
import { eventually } from '../support/eventually.js';
import { describeStrategies } from '../support/stores.js';

// Claims start at the scan cursor of their process. These tests show that it never hides a job.
describeStrategies('a sequence of claims', (setup) => {
  it('finds a more urgent job at once', async () => {
    const { put, claim } = await setup();
    await put(...Array.from({ length: 6 }, () => ({ priority: 5 })));
    await claim({ limit: 2 });
    const [urgent] = await put({ priority: 1 });

    const { jobs } = await claim({ limit: 1 });

    expect(idsOf(jobs)).toEqual([urgent]);
  });

  it('finds a job with a priority between those of the claimed jobs', async () => {
    const { put, claim } = await setup();
    await put({ priority: 1 }, { priority: 9 }, { priority: 9 }, { priority: 9 });
    await claim({ limit: 2 });
    const [between, first] = await put({ priority: 5 }, { priority: 1 });

    const { jobs } = await claim({ limit: 2 });

    expect(idsOf(jobs)).toEqual([first, between]);
  });

  it('finds a released job at its old position', async () => {
    const { put, claim, jobs: store } = await setup();
    const [first, , third] = await put({}, {}, {}, {}, {});
    const released = await claim({ limit: 1 });
    await claim({ limit: 1 });
    await store.complete(finalBatchOf(released, outcomes.release));

    const { jobs } = await claim({ limit: 2 });

    expect(idsOf(jobs)).toEqual([first, third]);
  });

  it('finds a promoted job at its old position', async () => {
    const { put, claim, advance, jobs: store } = await setup();
    const [delayed, , third] = await put({ delayMs: 1_000 }, {}, {}, {}, {});
    await claim({ limit: 1 });
    advance(1_000);
    await store.promote(10);

    const { jobs } = await claim({ limit: 2 });

    expect(idsOf(jobs)).toEqual([delayed, third]);
  });

  it('finds a job behind its scan cursor before it reports an empty queue', async () => {
    const { put, claim, open } = await setup();
    const [first, second] = await put({}, {}, {});
    const elsewhere = await open();
    const taken = await claim({ limit: 1 });
    await claim({ limit: 1 });
    await elsewhere.jobs.complete(finalBatchOf(taken, outcomes.release));

    const found: number[] = [];
    for (let each = await claim({ limit: 9 }); each.jobs.length > 0; each = await claim({ limit: 9 }))
      found.push(...idsOf(each.jobs));

    expect(found.sort((a, b) => a - b)).toEqual([first, second! + 1]);
  });

  it.each([1, 2, 3])('finds a job behind its scan cursors of %i priorities after a second', async (priorities) => {
    const { put, open } = await setup();
    const clock = new FakeClock();
    const [{ jobs }, elsewhere] = [await open({ clock }), await open()];
    const [first] = await put(...Array.from({ length: 6 }, (_, n) => ({ priority: n % priorities })));
    const taken = await claimFrom(jobs);
    await claimFrom(jobs, { limit: 5 });
    await elsewhere.jobs.complete(finalBatchOf(taken, outcomes.release));

    await clock.advance(1_000);
    // Claims do not wait for the check that looks behind the cursors.
    const next = async () => {
      await put({ priority: priorities - 1 });
      return idsOf((await claimFrom(jobs)).jobs)[0];
    };
    const found = await eventually(async () => (await next()) === first);

    expect(found).toBe(true);
  });

  it('keeps the order of many priorities', async () => {
    const { put, claim } = await setup();
    const priorities = [7, 3, 5, 1, 6, 2, 4, 3, 7, 1];
    await put(...priorities.map((priority) => ({ priority })));

    const claimed: number[] = [];
    for (let each = await claim(); each.jobs.length > 0; each = await claim()) claimed.push(each.jobs[0]!.priority);

    expect(claimed).toEqual([...priorities].sort((a, b) => a - b));
  });
});
