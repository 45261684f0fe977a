import { checkQueueName, nameProblem } from '../../lib/job/identifiers.js';
import { tableNames } from '../../lib/store/tables/table-names.js';

describe('a queue name', () => {
  it.each(['email.send', 'Email', 'a', 'a:b-c_d.0', 'x'.repeat(100)])('may be %s', (name) => {
    expect(nameProblem('queue name', name)).toBeUndefined();
  });

  it.each(['', ' a', 'a ', 'a b', 'émail', 'a\n', "a'", 'x'.repeat(101), 7, null, undefined, ['a']])(
    'may not be %j',
    (name) => {
      expect(() => checkQueueName(name)).toThrow(/expected queue name to be 1 to 100 of the characters/);
    },
  );
});

describe('a table prefix', () => {
  it('precedes the name of each table', () => {
    expect(tableNames('my_')).toMatchObject({ jobs: 'my_jobs', history: 'my_history' });
    expect(tableNames().jobs).toBe('sql_queue_jobs');
  });

  it.each(['', 'a b', 'a`', 'a.b', "a'", 'x'.repeat(41), null])('may not be %j', (prefix) => {
    expect(() => tableNames(prefix as never)).toThrow(/expected prefix to be 1 to 40/);
  });
});
