import { Ids } from '../../lib/store/core/statement.js';
import { Templates } from '../../lib/store/core/template.js';
import { mysql } from '../../lib/store/databases/mysql/mysql.js';
import { sqlite } from '../../lib/store/databases/sqlite/sqlite.js';

const templates = new Templates({ jobs: 'my_jobs' }, { now: 'NOW()', words: mysql.words }, { ms: 7 });

describe('a bound statement', () => {
  it('has table names in its text and values in its parameters', () => {
    const bound = templates.bind({
      sql: 'SELECT {jobs}_x FROM {jobs} WHERE a = :a AND b = :b AND c = :a',
      values: { a: 1, b: 'x' },
    });

    expect(bound).toEqual({
      text: 'SELECT my_jobs_x FROM my_jobs WHERE a = ? AND b = ? AND c = ?',
      values: [1, 'x', 1],
    });
  });

  it('has the words of its database', () => {
    const sql =
      'SELECT {join in order} id FROM {jobs} {by jobs.queue} JOIN {jobs} {by primary} {lock} {lock free} {only sqlite}';
    const onSqlite = new Templates({ jobs: 'my_jobs' }, sqlite);

    expect(templates.bind({ sql, values: {} }).text).toBe(
      'SELECT STRAIGHT_JOIN id FROM my_jobs FORCE INDEX (my_jobs_queue) JOIN my_jobs FORCE INDEX (PRIMARY) ' +
        'FOR UPDATE FOR UPDATE SKIP LOCKED AND FALSE',
    );
    expect(onSqlite.bind({ sql, values: {} }).text.replace(/ +/g, ' ')).toBe('SELECT id FROM my_jobs JOIN my_jobs ');
  });

  it('expands a list to one parameter per value', () => {
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
  ])('names the ids %j with ranges for neighbours', (ids, text, values) => {
    expect(templates.bind({ sql: ':ids AND a = 1', values: { ids: new Ids(ids) } })).toEqual({
      text: `${text} AND a = 1`,
      values,
    });
  });

  it('names at most 500 ranges, because SQLite limits the depth of a condition', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => n).filter((n) => n % 5 > 0);

    const { text, values } = templates.bind({ sql: ':ids', values: { ids: new Ids(ids) } });

    expect(text.split(' OR ')).toHaveLength(501);
    expect(values).toHaveLength(500 * 2 + 500 + (ids.length - 500 * 4));
  });

  it('adds the skew to each `:now`', () => {
    const bound = templates.bind({ sql: ':now - :a < :now', values: { a: 1 } });

    expect(bound).toEqual({ text: '(NOW() + ?) - ? < (NOW() + ?)', values: [7, 1, 7] });
  });

  it('writes a tuple per row, with the skew of `:now` in its position', () => {
    const rows = [
      [1, 2, null],
      [4, 5, 'c'],
    ];

    expect(templates.bind({ sql: 'VALUES :rows(?, COALESCE(:now + ?, 0), ?)', values: { rows } })).toEqual({
      text: 'VALUES (?, COALESCE((NOW() + ?) + ?, 0), ?), (?, COALESCE((NOW() + ?) + ?, 0), ?)',
      values: [1, 7, 2, null, 4, 7, 5, 'c'],
    });
  });

  it('never interprets a value as a name', () => {
    expect(templates.bind({ sql: 'a = :a', values: { a: ':b {jobs} ?' } })).toEqual({
      text: 'a = ?',
      values: [':b {jobs} ?'],
    });
  });

  it('rejects a missing value, an empty list and an unknown table', () => {
    expect(() => templates.bind({ sql: 'a = :a', values: {} })).toThrow('No value for :a');
    expect(() => templates.bind({ sql: 'id IN (:ids)', values: { ids: [] } })).toThrow('An empty list for :ids');
    expect(() => templates.bind({ sql: '{lock it}', values: {} })).toThrow('{lock it}');
    expect(() => templates.bind({ sql: '{by users.queue}', values: {} })).toThrow('{by users.queue}');
    expect(() => templates.bind({ sql: '{users}', values: {} })).toThrow('No table and no word {users}');
  });
});
