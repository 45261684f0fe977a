import { Ids, Rows } from '../../lib/store/sql/statement.js';
import { Templates } from '../../lib/store/sql/template.js';

const templates = new Templates({ jobs: 'my_jobs' }, 'NOW()', () => 7);

describe('binding a statement', () => {
  it('puts names in place and values beside', () => {
    const bound = templates.bind({
      sql: 'SELECT {jobs}_x FROM {jobs} WHERE a = :a AND b = :b AND c = :a',
      values: { a: 1, b: 'x' },
    });

    expect(bound).toEqual({
      text: 'SELECT my_jobs_x FROM my_jobs WHERE a = ? AND b = ? AND c = ?',
      values: [1, 'x', 1],
    });
  });

  it('makes a list of a list', () => {
    expect(templates.bind({ sql: 'id IN (:ids)', values: { ids: [3, 4] } })).toEqual({
      text: 'id IN (?, ?)',
      values: [3, 4],
    });
  });

  it.each([
    [[7], '(id IN (?))', [7]],
    [[9, 7, 10, 8], '(id BETWEEN ? AND ? OR id IN (?))', [7, 9, 10]],
    [[1, 3, 4, 5, 2, 9, 11], '(id BETWEEN ? AND ? OR id IN (?, ?, ?))', [1, 4, 5, 9, 11]],
    [[1, 2, 3, 4, 6, 7, 8, 9], '(id BETWEEN ? AND ? OR id BETWEEN ? AND ? OR id IN (?, ?))', [1, 3, 6, 8, 4, 9]],
    [[1, 2, 3, 5, 6], '(id IN (?, ?, ?, ?, ?))', [1, 2, 3, 5, 6]],
  ])('names the ids %j, neighbours as a range and its last one alone', (ids, text, values) => {
    expect(templates.bind({ sql: ':ids AND a = 1', values: { ids: new Ids(ids) } })).toEqual({
      text: `${text} AND a = 1`,
      values,
    });
  });

  it('adds the skew to each now', () => {
    const bound = templates.bind({ sql: ':now - :a < :now', values: { a: 1 } });

    expect(bound).toEqual({ text: '(NOW() + ?) - ? < (NOW() + ?)', values: [7, 1, 7] });
  });

  it('writes a tuple for each row, and the skew where its now stands', () => {
    const rows = new Rows('(?, :now + ?, ?)', [
      [1, 2, null],
      [4, 5, 'c'],
    ]);

    expect(templates.bind({ sql: 'VALUES :rows', values: { rows } })).toEqual({
      text: 'VALUES (?, (NOW() + ?) + ?, ?), (?, (NOW() + ?) + ?, ?)',
      values: [1, 7, 2, null, 4, 7, 5, 'c'],
    });
  });

  it('never takes what stands in a value for a name', () => {
    expect(templates.bind({ sql: 'a = :a', values: { a: ':b {jobs} ?' } })).toEqual({
      text: 'a = ?',
      values: [':b {jobs} ?'],
    });
  });

  it('refuses a value that is missing, an empty list and an unknown table', () => {
    expect(() => templates.bind({ sql: 'a = :a', values: {} })).toThrow('No value for :a');
    expect(() => templates.bind({ sql: 'id IN (:ids)', values: { ids: [] } })).toThrow('An empty list for :ids');
    expect(() => templates.bind({ sql: '{users}', values: {} })).toThrow('No table {users}');
  });
});
