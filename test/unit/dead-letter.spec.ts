import { deadLetterOf, withoutOriginHeaders } from '../../lib/job/dead-letter.js';
import type { ClaimedJob } from '../../lib/job/job.js';

const error = { name: 'Error', message: 'no' };

function job(given: Partial<ClaimedJob> = {}): ClaimedJob {
  return {
    ...{ id: 7, queue: 'q', name: 'welcome', priority: 3, attempt: 2, maxAttempts: 2, createdAtMs: 0, dueAtMs: null },
    ...{ payload: '{"a":1}', headers: null, overrides: { timeoutMs: 5 }, lastError: null, errors: [], group: null },
    ...given,
  };
}

function headersOf(given: Partial<ClaimedJob>, message = 'no'): Record<string, string> {
  return JSON.parse(deadLetterOf(job(given), { ...error, message }, 'dlq')!.headers!) as Record<string, string>;
}

describe('a dead letter', () => {
  it('has the payload, name and priority of the dead job, and none of its options', () => {
    expect(deadLetterOf(job(), error, 'dlq')).toMatchObject({
      ...{ queue: 'dlq', name: 'welcome', payload: '{"a":1}', priority: 3 },
      ...{ maxAttempts: null, overrides: null, delayMs: null, runAtMs: null },
    });
  });

  it('has the headers of the dead job, and headers for its origin', () => {
    expect(headersOf({ headers: '{"trace":"x"}' })).toEqual({
      trace: 'x',
      'dead-letter.queue': 'q',
      'dead-letter.id': '7',
      'dead-letter.attempts': '2',
      'dead-letter.error': 'Error: no',
    });
  });

  it('shortens a long error to the size of a header', () => {
    expect(headersOf({}, 'x'.repeat(4_000))['dead-letter.error']).toHaveLength(500);
  });

  it.each(['[1]', '"text"', 'no json', 'null', '7'])('can be made of a job with malformed headers (%s)', (headers) => {
    expect(Object.keys(headersOf({ headers }))).toHaveLength(4);
  });

  it('makes no dead letter of its own', () => {
    const letter = deadLetterOf(job(), error, 'dlq')!;

    expect(deadLetterOf(job({ queue: 'dlq', headers: letter.headers }), error, 'q')).toBeUndefined();
  });

  it('can lose the headers of its origin, and no others', () => {
    expect(withoutOriginHeaders('{"trace":"x","dead-letter.queue":"q"}')).toBe('{"trace":"x"}');
    expect(withoutOriginHeaders('{"dead-letter.queue":"q","dead-letter.id":"7"}')).toBeNull();
    expect(withoutOriginHeaders(null)).toBeNull();
  });
});
