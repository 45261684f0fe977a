import {
  checked,
  either,
  group,
  oneOf,
  option,
  optionProblems,
  positiveDuration,
  resolveOptions,
  whole,
} from '../../lib/job/option-schema.js';

const SCHEMA = {
  size: option(whole(1, 9), 3),
  wait: option(either(false, positiveDuration), '2s'),
  mode: option(oneOf('slow', 'fast', false), 'slow'),
  label: option(oneOf('a', 'b')),
  inner: group({ depth: option(whole(0, 5), 1) }, 'inner.'),
};

describe('an option schema', () => {
  it('fills in the default of each option that is undefined', () => {
    const resolved = resolveOptions(SCHEMA, { size: undefined });

    expect(resolved).toEqual({ size: 3, wait: 2_000, mode: 'slow', label: undefined, inner: { depth: 1 } });
  });

  it('converts durations to milliseconds and keeps literals', () => {
    expect(resolveOptions(SCHEMA, { wait: '1m', inner: { depth: 4 } })).toMatchObject({
      wait: 60_000,
      inner: { depth: 4 },
    });
    expect(resolveOptions(SCHEMA, { wait: false, mode: false })).toMatchObject({ wait: false, mode: false });
  });

  it('accepts options that are undefined or valid', () => {
    expect(optionProblems(SCHEMA, { size: 9, wait: undefined, inner: {} })).toEqual([]);
  });

  it('reports all problems at once, unknown names first', () => {
    const problems = optionProblems(SCHEMA, { size: 10, mode: null, sise: 1, inner: { depth: 6 } });

    expect(problems).toEqual([
      'unknown option "sise", did you mean "size"?',
      'expected size to be a whole number from 1 to 9, got 10',
      `expected mode to be 'slow', 'fast' or false, got null`,
      'expected inner.depth to be a whole number from 0 to 5, got 6',
    ]);
  });

  it('names the known options of a group that is no object', () => {
    expect(optionProblems(SCHEMA, { inner: 7 })).toEqual(['expected inner to be options (known: depth), got 7']);
  });

  it('accepts options that the caller checks, and says where misplaced ones belong', () => {
    const given = { other: 1, far: 2 };

    expect(optionProblems(SCHEMA, given, { also: ['other'], misplaced: { far: 'belongs elsewhere' } })).toEqual([
      '"far" belongs elsewhere',
    ]);
  });

  it('leaves the value of an option with its own check unchanged', () => {
    const schema = { list: checked((value) => [Array.isArray(value) ? undefined : 'expected a list']) };

    expect(resolveOptions(schema, { list: [1] })).toEqual({ list: [1] });
    expect(optionProblems(schema, { list: 1 })).toEqual(['expected a list']);
  });
});
