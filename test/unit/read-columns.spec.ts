import { readOverrides } from '../../lib/job/read-columns.js';

describe('the stored options of a job', () => {
  it.each([1, Number.MAX_SAFE_INTEGER])('may name a new start of the job by any random id: %d', (restart) => {
    expect(readOverrides(JSON.stringify({ restart }))).toEqual({ overrides: { restart } });
  });

  it.each([0, 1.5, 2 ** 53, '7', null])('name no new start of the job by %j', (restart) => {
    expect(readOverrides(JSON.stringify({ restart }))).toHaveProperty('problem');
  });
});
