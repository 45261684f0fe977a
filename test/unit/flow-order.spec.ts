import { readFlow } from '../../lib/store/features/flows/read-flow.js';
import { NEXT_TURN, type Work } from '../../lib/store/core/statement.js';
import { isTurnLong } from '../../lib/common/turn.js';

describe('reading a flow', () => {
  it.each([
    ['many jobs after one', (n: number) => n, () => 1],
    ['one job after many', () => 1, (n: number) => n],
    ['each of some jobs after each of others', (n: number) => Math.sqrt(n), (n: number) => Math.sqrt(n)],
  ])('takes work in proportion to the flow (%s)', (_, dependents, needed) => {
    const stepsFor = (n: number) => iteratedItems(() => read(dependents(n), needed(n)));

    const [small, large] = [stepsFor(400), stepsFor(1_600)];

    expect(large).toBeLessThan(small * 6);
  });

  it('lets the event loop run between the rows of one answer in a long turn', () => {
    while (!isTurnLong());

    expect(read(1, 100)).toBeGreaterThan(100);
  });
});

/** Reads a flow in which `dependents` jobs wait for `needed` jobs each. Returns how often it lets the event loop run. */
function read(dependents: number, needed: number): number {
  const [first, second] = [range(1, needed), range(needed + 1, dependents)];
  const row = (job_id: number, needs: number) => ({
    job_id,
    needs,
    queue: 'q',
    name: 'n',
    on_failure: 'run',
    outcome: '',
  });
  const rows = [...second.map((id) => row(-1, id)), ...second.flatMap((id) => first.map((needs) => row(id, needs)))];
  const work: Work<unknown> = readFlow(1);
  let turns = 0;
  for (let step = work.next(); !step.done;) {
    if (step.value === NEXT_TURN) {
      turns++;
      step = work.next([]);
      continue;
    }
    const { sql, values } = step.value.statements[0]!;
    const ids = new Set(values['ids'] as number[] | undefined);
    const found = /edges/.test(sql) ? rows.filter(({ job_id }) => ids.has(job_id)) : [{ created_at: 0 }];
    step = work.next([{ rows: /UNION/.test(sql) ? [] : found, affectedRows: 0, insertId: 0 }]);
  }
  return turns;
}

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, index) => from + index);
}

/** The number of items of lists that `act` reads one after the other. */
function iteratedItems(act: () => void): number {
  const { [Symbol.iterator]: iterate } = Array.prototype;
  let items = 0;
  // oxlint-disable-next-line no-extend-native
  Array.prototype[Symbol.iterator] = function (this: unknown[]) {
    items += this.length;
    return iterate.call(this);
  };
  try {
    act();
  } finally {
    // oxlint-disable-next-line no-extend-native
    Array.prototype[Symbol.iterator] = iterate;
  }
  return items;
}
