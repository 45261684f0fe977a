import { matches } from '../../lib/job/queue-pattern.js';
import { matchesHeaders, patternsOf, subscriptionProblems, subscriptionsOf } from '../../lib/job/topics.js';

describe('a topic', () => {
  it.each(['user.created', 'a', '.', 'x'.repeat(100)])('%s matches the patterns that name it', (topic) => {
    const patterns = patternsOf(topic);

    expect(patterns).toHaveLength(topic.length + 2);
    expect(patterns.filter((pattern) => !matches(pattern, topic))).toEqual([]);
    for (const other of [`${topic}.`, `${topic}.*`, `.${topic}*`, topic.toUpperCase().repeat(2), ''])
      expect([other, patterns.includes(other)]).toEqual([other, matches(other, topic)]);
  });
});

describe('a subscription', () => {
  it('equals another one with the same meaning', () => {
    const one = subscriptionsOf({ topic: ['b', 'a', 'b'], where: { z: 'x', a: ['2', '1', '2'] } });
    const other = subscriptionsOf({ topic: ['a', 'b'], where: { a: ['1', '2'], z: 'x' } });

    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
    expect(one.map(({ topic }) => topic)).toEqual(['a', 'b']);
  });

  it('has no condition if its condition names no headers', () => {
    expect(subscriptionsOf({ topic: 'a', where: {} })).toEqual([{ topic: 'a', where: null }]);
  });

  it.each(['user.*', '*', 'a', ['a', 'b*'], 'x'.repeat(99) + '*'])('may name the topic %o', (topic) => {
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
  ])('may not name the topic %o', (topic) => {
    expect(subscriptionProblems({ topic })).toHaveLength(1);
  });

  it('reports all its problems at once', () => {
    expect(subscriptionProblems({ topic: ['', 'a b'], where: { 'a b': 1n, c: [1n] } })).toHaveLength(5);
  });

  it('limits its condition to the size of headers', () => {
    expect(subscriptionProblems({ topic: 'a', where: { long: 'x'.repeat(20_000) } })).toEqual([
      'expected where to have at most 16384 characters, got 20011',
    ]);
  });

  it('compares own headers only, not inherited properties', () => {
    const headers = JSON.parse('{ "__proto__": "a", "region": "eu" }') as Record<string, string>;

    expect(matchesHeaders(JSON.parse('{ "__proto__": "a" }') as Record<string, string>, headers)).toBe(true);
    expect(matchesHeaders(JSON.parse('{ "__proto__": "a" }') as Record<string, string>, { region: 'eu' })).toBe(false);
    expect(matchesHeaders({ toString: 'a' }, headers)).toBe(false);
    expect(matchesHeaders({ region: ['us', 'eu'] }, headers)).toBe(true);
  });
});
