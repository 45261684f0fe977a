import { Ids, type Values } from '../../lib/store/core/statement.js';
import { Templates } from '../../lib/store/core/template.js';
import { mysql } from '../../lib/store/databases/mysql/mysql.js';
import { clockText, stableText } from './stable-text.js';

const templates = new Templates({ jobs: 'my_jobs', edges: 'my_edges' }, { now: 'CLOCK()', words: mysql.words });
const textOf = (sql: string, values: Values = {}) => stableText(templates, { sql, values });

describe('the stable text of a statement', () => {
  it('has a placeholder for each value, the clock and the prefix', () => {
    expect(textOf('SELECT :a FROM {jobs} WHERE x > :now', { a: 1 })).toBe(
      'SELECT ? FROM sql_queue_jobs WHERE x > :now',
    );
    expect(clockText(templates)).toBe('(CLOCK() + ?)');
  });

  it('is equal for lists of any length', () => {
    const inserted = (...rows: [number, number][]) => textOf('INSERT VALUES :rows(?, :now, ?)', { rows });
    const found = (...ids: number[]) => textOf('WHERE :ids AND a IN (:list)', { ids: new Ids(ids), list: ids });

    expect(inserted([1, 2], [3, 4])).toBe('INSERT VALUES (?, :now, ?)');
    expect(found(1, 2, 3, 4, 5, 9)).toBe('WHERE (id IN (?)) AND a IN (?)');
    expect([inserted([1, 2]), found(7)]).toEqual([inserted([1, 2], [3, 4]), found(1, 2, 3, 4, 5, 9)]);
  });

  it('is equal for any number of repeated clauses from two on', () => {
    const byCase = (count: number) => textOf(`SET a = CASE b ${'WHEN :x THEN :y '.repeat(count)}END`, { x: 1, y: 2 });
    const union = (count: number) =>
      Array.from({ length: count }, (_, n) => `(SELECT a FROM {jobs} WHERE b = :b) AS head_${n}`).join(' UNION ALL ');
    const byUnion = (count: number) => textOf(union(count), { b: 1 });

    expect([byCase(5), byUnion(5)]).toEqual([byCase(3), byUnion(3)]);
    expect(byCase(1)).toBe('SET a = CASE b WHEN ? THEN ? END');
  });

  it('keeps each column of a row, and each lock clause', () => {
    const insert = 'INSERT VALUES (:a, :now, :a, :now, :a, :a, :a)';

    expect(textOf(insert, { a: 1 })).toBe('INSERT VALUES (?, :now, ?, :now, ?, ?, ?)');
    expect(textOf('SELECT 1 FROM {jobs} /*! FOR UPDATE SKIP LOCKED */')).toContain('/*! FOR UPDATE SKIP LOCKED */');
  });
});
