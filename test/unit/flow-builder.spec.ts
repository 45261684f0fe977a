import { isTurnLong } from '../../lib/common/turn.js';
import { FlowCycleError, InvalidOptionsError } from '../../lib/job/errors.js';
import type { NewJob } from '../../lib/job/job.js';
import { FlowBuilder, type FlowJob } from '../../lib/producer/flow-builder.js';
import { newJob } from '../support/jobs.js';

const build = ({ queue }: FlowJob): NewJob => newJob({ queue });

describe('a flow that is being built', () => {
  it('lists its jobs in their order, and the positions of those that they need', async () => {
    const flow = new FlowBuilder();
    const parts = flow.addMany('part', [1, 2]);
    const merged = flow.add('merge', 0, { after: parts });
    flow.add('mail', 0, { after: merged, onFailure: 'run' }).after(parts[0]!, { onFailure: 'wait' });

    const { jobs, edges } = await flow.finish(build);

    expect(jobs.map(({ queue, isBlocked = false }) => [queue, isBlocked])).toEqual([
      ['part', false],
      ['part', false],
      ['merge', true],
      ['mail', true],
    ]);
    expect(edges).toEqual([
      { job: 2, needs: 0, onFailure: 'cancel' },
      { job: 2, needs: 1, onFailure: 'cancel' },
      { job: 3, needs: 2, onFailure: 'run' },
      { job: 3, needs: 0, onFailure: 'wait' },
    ]);
  });

  it('counts a job that is needed twice once', async () => {
    const flow = new FlowBuilder();
    const first = flow.add('a', 0);
    flow.add('b', 0, { after: [first, first] }).after(first, { onFailure: 'run' });

    expect((await flow.finish(build)).edges).toEqual([{ job: 1, needs: 0, onFailure: 'run' }]);
  });

  it.each([
    ['that waits for itself', 1, 'a (job 1) → a (job 1)'],
    ['of three', 3, 'a (job 1) → c (job 3) → b (job 2) → a (job 1)'],
  ])('rejects a cycle %s', async (_, length, path) => {
    const flow = new FlowBuilder();
    const jobs = ['a', 'b', 'c'].slice(0, length).map((queue) => flow.add(queue, 0));
    jobs.forEach((job, index) => job.after(jobs.at(index - 1)!));

    const finished = flow.finish(build);

    await expect(finished).rejects.toThrow(FlowCycleError);
    await expect(finished).rejects.toThrow(`got ${path}. Remove one`);
  });

  it('accepts a chain of many thousand jobs', async () => {
    const flow = new FlowBuilder();
    let last = flow.add('q', 0);
    for (let n = 1; n < 50_000; n++) last = flow.add('q', n, { after: last });

    expect((await flow.finish(build)).edges).toHaveLength(49_999);
  });

  it('rejects more than 100,000 jobs', async () => {
    const flow = new FlowBuilder();
    flow.addMany(
      'q',
      Array.from({ length: 100_001 }, () => 0),
    );

    await expect(flow.finish(build)).rejects.toMatchObject({
      code: 'FLOW_TOO_LARGE',
      message: expect.stringContaining('expected at most 100000 jobs, got 100001'),
    });
  });

  it('rejects more than 200,000 dependencies', async () => {
    const flow = new FlowBuilder();
    const first = flow.addMany(
      'q',
      Array.from({ length: 500 }, () => 0),
    );
    flow.addMany(
      'q',
      Array.from({ length: 401 }, () => 0),
      { after: first },
    );

    await expect(flow.finish(build)).rejects.toThrow('expected at most 200000 dependencies, got 200500');
  });

  it.each<[string, (flow: FlowBuilder) => unknown]>([
    ['expected no key for a job of a flow', (flow) => flow.add('q', 0, { key: 'k' } as object)],
    [
      `expected onFailure to be 'cancel', 'run' or 'wait', got "stop"`,
      (f) => f.add('q', 0, { onFailure: 'stop' as 'run' }),
    ],
    ['expected after to be a job', (flow) => flow.add('q', 0, { after: 7 as unknown as FlowJob })],
    ['expected after to be a job', (flow) => flow.add('q', 0, { after: new FlowBuilder().add('q', 0) })],
    ['expected queue name', (flow) => flow.add('no name!', 0)],
    ['expected a list of payloads', (flow) => flow.addMany('q', 7 as unknown as [])],
    [
      'unknown option "onfailure", did you mean "onFailure"?',
      (flow) => flow.add('q', 0).after([], { onfailure: 'run' } as object),
    ],
  ])('rejects with "%s"', (message, act) => {
    const call = () => act(new FlowBuilder());

    expect(call).toThrow(InvalidOptionsError);
    expect(call).toThrow(message);
  });

  it('rejects an empty flow, and a job that is added after its end', async () => {
    const flow = new FlowBuilder();

    await expect(flow.finish(build)).rejects.toThrow('expected at least one job, got 0');
    expect(() => flow.add('q', 0)).toThrow('got a later call');
  });

  it('rejects a dependency that is added after its end', async () => {
    const flow = new FlowBuilder();
    const [first, second] = flow.addMany('q', [1, 2]);

    const finished = flow.finish(build);

    expect(() => second!.after(first!)).toThrow('expected after() before the function that builds the flow ends');
    expect((await finished).edges).toEqual([]);
  });

  it('lets the event loop run before it reads the dependencies in a long turn', async () => {
    const flow = new FlowBuilder();
    flow.add('b', 0, { after: flow.add('a', 0) });
    let isNextTurn = false;
    setImmediate(() => (isNextTurn = true));
    while (!isTurnLong());

    const finished = await flow.finish((job) => newJob({ queue: job.queue, name: `${isNextTurn}` }));

    expect(finished.jobs.map(({ name }) => name)).toEqual(['true', 'true']);
  });

  it('checks the options of many jobs once', () => {
    let reads = 0;
    const options = {
      get priority() {
        reads++;
        return 1;
      },
    };

    new FlowBuilder().addMany('q', [1, 2, 3], options);

    expect(reads).toBe(1);
  });

  it('has no ids before it is stored', () => {
    expect(() => new FlowBuilder().add('q', 0).id).toThrow('has an id when flow() has resolved');
  });
});
