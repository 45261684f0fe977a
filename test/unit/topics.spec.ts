import { matches } from '../../lib/job/queue-pattern.js';
import { admits, patternsOf, subscriptionProblems, subscriptionsOf } from '../../lib/job/topics.js';

describe('a topic', () => {
  it.each(['user.created', 'a', '.', 'x'.repeat(100)])(
    '%s is named by the patterns that name a queue of that name',
    (topic) => {
      const patterns = patternsOf(topic);

      expect(patterns).toHaveLength(topic.length + 2);
      expect(patterns.filter((pattern) => !matches(pattern, topic))).toEqual([]);
      for (const other of [`${topic}.`, `${topic}.*`, `.${topic}*`, topic.toUpperCase().repeat(2), ''])
        expect([other, patterns.includes(other)]).toEqual([other, matches(other, topic)]);
    },
  );
});

describe('a subscription', () => {
  it('that means the same is the same, however it was written', () => {
    const one = subscriptionsOf({ topic: ['b', 'a', 'b'], where: { z: 'x', a: ['2', '1', '2'] } });
    const other = subscriptionsOf({ topic: ['a', 'b'], where: { a: ['1', '2'], z: 'x' } });

    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
    expect(one.map(({ topic }) => topic)).toEqual(['a', 'b']);
  });

  it('that asks for no header asks for nothing', () => {
    expect(subscriptionsOf({ topic: 'a', where: {} })).toEqual([{ topic: 'a', where: null }]);
  });

  it.each(['user.*', '*', 'a', ['a', 'b*'], 'x'.repeat(99) + '*'])('can be to %p', (topic) => {
    expect(subscriptionProblems({ topic })).toEqual([]);
  });

  it.each([
    [''],
    ['**'],
    ['a*b'],
    ['a b'],
    ['é'],
    ['x'.repeat(101)],
    ['x'.repeat(100) + '*'],
    [7],
    [null],
    [[]],
    [['a', 7]],
  ])('cannot be to %p', (topic) => {
    expect(subscriptionProblems({ topic })).toHaveLength(1);
  });

  it('tells all that is wrong with it at once', () => {
    expect(subscriptionProblems({ topic: ['', 'a b'], where: { 'a b': 1n, c: [1n] } })).toHaveLength(5);
  });

  it('asks for headers no longer than headers can be', () => {
    expect(subscriptionProblems({ topic: 'a', where: { long: 'x'.repeat(20_000) } })).toEqual([
      'expected where to have at most 16384 characters, got 20011',
    ]);
  });

  it('admits headers by what they are, and not by what every object has', () => {
    const headers = JSON.parse('{ "__proto__": "a", "region": "eu" }') as Record<string, string>;

    expect(admits(JSON.parse('{ "__proto__": "a" }') as Record<string, string>, headers)).toBe(true);
    expect(admits(JSON.parse('{ "__proto__": "a" }') as Record<string, string>, { region: 'eu' })).toBe(false);
    expect(admits({ toString: 'a' }, headers)).toBe(false);
    expect(admits({ region: ['us', 'eu'] }, headers)).toBe(true);
  });
});
