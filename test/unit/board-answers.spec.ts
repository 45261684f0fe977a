import { answerOf, notFound } from '../../lib/board/board-refusal.js';
import {
  DuplicateKeyError,
  InvalidOptionsError,
  JobNotFoundError,
  PayloadTooLargeError,
  ScheduleNotFoundError,
  StoreUnavailableError,
} from '../../lib/job/errors.js';

describe('answerOf()', () => {
  it('answers errors of the library with their message and a status', () => {
    const errors = [
      new InvalidOptionsError('Cannot pause', ['expected a name']),
      new PayloadTooLargeError('q', 'payload', 2, 1),
      new JobNotFoundError(1),
      new ScheduleNotFoundError('daily'),
      notFound('Queue "a"'),
      new DuplicateKeyError('q', 'k', 1, 'waiting'),
      new StoreUnavailableError('The database is away.', 'not-done'),
    ];

    const answers = errors.map(answerOf);

    expect(answers.map((answer) => answer!.status)).toEqual([400, 400, 404, 404, 404, 409, 503]);
    expect(answers[6]!.body).toEqual({ code: 'STORE_UNAVAILABLE', message: 'The database is away.' });
  });

  it('does not answer an unexpected error with its message', () => {
    expect(answerOf(new TypeError('secret is undefined'))).toBeUndefined();
    expect(answerOf(undefined)).toBeUndefined();
  });
});
