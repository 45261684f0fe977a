import { MissingIds } from '../../lib/listen/event-feed.js';

describe('skipped event ids', () => {
  it('are read at every poll while they are young', () => {
    const missing = new MissingIds();

    missing.addGap(3, 6, 0);

    expect(missing.due(0)).toEqual([4, 5]);
    expect(missing.due(4_999)).toEqual([4, 5]);
  });

  it('are read every 15 seconds once they are 5 seconds old, and no longer after ten minutes', () => {
    const missing = new MissingIds();
    missing.addGap(3, 5, 0);
    missing.due(0);

    expect(missing.due(5_000)).toEqual([]);
    expect(missing.due(15_000)).toEqual([4]);
    expect(missing.due(16_000)).toEqual([]);
    expect(missing.due(599_999)).toEqual([4]);
    expect(missing.due(700_000)).toEqual([]);
  });

  it('are found among the last thousand ids', () => {
    const missing = new MissingIds();

    missing.addGapsAmong([], 0);
    missing.addGapsAmong([2, 3, 5], 0);
    expect(missing.due(0)).toEqual([1, 4]);

    const recent = new MissingIds();
    recent.addGapsAmong([10, 4_001, 4_999, 5_000], 0);
    expect(recent.due(0)).toEqual(Array.from({ length: 997 }, (_, n) => 4_002 + n));
  });

  it('are removed once they are found', () => {
    const missing = new MissingIds();
    missing.addGap(3, 6, 0);

    missing.remove(4);

    expect(missing.due(0)).toEqual([5]);
  });

  it('are at most the last thousand of a gap, and the youngest ten thousand in total', () => {
    const missing = new MissingIds();

    missing.addGap(0, 5_000, 0);
    expect(missing.due(0)).toEqual(Array.from({ length: 1_000 }, (_, n) => 4_000 + n));

    for (let n = 1; n <= 10; n++) missing.addGap(n * 10_000, n * 10_000 + 1_001, 0);
    const due = missing.due(0);
    expect(due).toHaveLength(10_000);
    expect(due[0]).toBe(10_001);
  });
});
