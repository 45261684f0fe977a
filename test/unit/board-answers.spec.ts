import { knownError, notFound } from '../../lib/extras/dashboard/error-status.js';
import {
  DuplicateKeyError,
  InvalidOptionsError,
  JobNotFoundError,
  PayloadTooLargeError,
  ScheduleNotFoundError,
  StoreUnavailableError,
} from '../../lib/job/errors.js';

describe('knownError()', () => {
  it('has a status and the message for errors of the library', () => {
    const errors = [
      new InvalidOptionsError('Cannot pause', ['expected a name']),
      new PayloadTooLargeError('q', 'payload', 2, 1),
      new JobNotFoundError(1),
      new ScheduleNotFoundError('daily'),
      notFound('Queue "a"'),
      new DuplicateKeyError('q', 'k', 1, 'waiting'),
      new StoreUnavailableError('The database is away.', 'not-done'),
    ];

    const answers = errors.map(knownError);

    expect(answers.map((answer) => answer!.status)).toEqual([400, 400, 404, 404, 404, 409, 503]);
    expect(answers[6]).toEqual({ status: 503, code: 'STORE_UNAVAILABLE', message: 'The database is away.' });
  });

  it('knows no message for an unexpected error', () => {
    expect(knownError(new TypeError('secret is undefined'))).toBeUndefined();
    expect(knownError(undefined)).toBeUndefined();
  });
});
