import { ErrorCounter } from '../../lib/instrumentation/error-counter.js';
import { errorsRow } from '../support/metrics.js';
import { withinMaxErrors } from '../../lib/store/features/metrics/counted-tables.js';
import { MAX_ERRORS } from '../../lib/store/features/metrics/metrics-store.js';

const PLACE = { queue: 'q', stepMs: 0, startsAtMs: 60_000, recorder: 1 };
const failed = (name: string, jobId = 1, code?: string) =>
  ({ outcome: 'failed', jobId, error: { name, message: 'no', ...(code !== undefined && { code }) } }) as const;

describe('an error counter', () => {
  it('counts failed and dead attempts by the code of their error, or by its name', () => {
    const counter = new ErrorCounter();
    counter.add(failed('TypeError', 3), 80_000);
    counter.add({ ...failed('TypeError', 2), outcome: 'dead' }, 70_000);
    counter.add(failed('Error', 4, 'E550'), 75_000);

    expect(counter.take(PLACE)).toEqual([
      { ...PLACE, error: 'TypeError', failed: 2, dead: 1, firstAtMs: 70_000, lastAtMs: 80_000, jobId: 3 },
      { ...PLACE, error: 'E550', failed: 1, dead: 0, firstAtMs: 75_000, lastAtMs: 75_000, jobId: 4 },
    ]);
  });

  it('returns only the counts that have changed, each with all attempts of the minute', () => {
    const counter = new ErrorCounter();
    counter.add(failed('A'), 70_000);
    counter.add(failed('B'), 70_000);
    counter.take(PLACE);

    counter.add(failed('B'), 71_000);

    expect(counter.take(PLACE)).toMatchObject([{ error: 'B', failed: 2 }]);
    expect(counter.take(PLACE)).toEqual([]);
  });

  it('uses the start of the minute if the time of the database is not known', () => {
    const counter = new ErrorCounter();
    counter.add(failed('A'), undefined);

    expect(counter.take(PLACE)).toMatchObject([{ firstAtMs: 60_000, lastAtMs: 60_000 }]);
  });

  it('counts a hundred errors, and all others together', () => {
    const counter = new ErrorCounter();
    for (let n = 0; n < MAX_ERRORS + 30; n++) counter.add(failed(`E${n}`), 70_000);
    counter.add(failed('E1'), 70_000);

    const rows = counter.take(PLACE);

    expect(rows).toHaveLength(MAX_ERRORS + 1);
    expect(rows.find(({ error }) => error === '')).toMatchObject({ failed: 30 });
    expect(rows.find(({ error }) => error === 'E1')).toMatchObject({ failed: 2 });
  });
});

describe('withinMaxErrors()', () => {
  it('keeps the most frequent errors, and adds the others up', () => {
    const rows = Array.from({ length: MAX_ERRORS + 2 }, (_, n) =>
      errorsRow({ error: `E${n}`, failed: n + 1, jobId: n }),
    );

    const kept = withinMaxErrors([...rows, errorsRow({ error: '', failed: 10, jobId: 500 })]);

    expect(kept).toHaveLength(MAX_ERRORS + 1);
    expect(kept.at(-1)).toMatchObject({ error: '', failed: 1 + 2 + 10, jobId: 500 });
    expect(kept.map(({ error }) => error)).not.toContain('E1');
  });
});
