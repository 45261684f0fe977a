import { driveSync, queryInBatches, type Statement } from '../../lib/store/core/statement.js';

describe('queryInBatches', () => {
  it('returns the rows of all batches in order', () => {
    const sent: Statement[] = [];

    const rows = driveSync(
      queryInBatches<{ id: number }>('SELECT', [1, 2, 3, 4, 5], 2, { queue: 'q' }),
      (statement) => {
        sent.push(statement);
        const rows = (statement.values['ids'] as number[]).map((id) => ({ id }));
        return { rows, affectedRows: 0, insertId: 0 };
      },
    );

    expect(rows.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(sent.map(({ values }) => values)).toEqual([
      { queue: 'q', ids: [1, 2] },
      { queue: 'q', ids: [3, 4] },
      { queue: 'q', ids: [5] },
    ]);
  });

  it('accepts more rows for one id than a call accepts arguments, such as the needs of a job in a large flow', () => {
    const many = Array.from({ length: 300_000 }, (_, id) => ({ id }));

    const rows = driveSync(queryInBatches('SELECT', [1], 1), () => ({ rows: many, affectedRows: 0, insertId: 0 }));

    expect(rows).toHaveLength(300_000);
  });
});
