import { StoreUnavailableError } from '../../lib/job/errors.js';
import { classifyError } from '../../lib/store/core/classify-error.js';

describe('the classification of the database error', () => {
  it.each([
    [{ errno: 1213 }],
    [{ errno: 1205 }],
    [{ errno: 1020 }],
    [{ errno: 3101 }],
    [{ errno: 1180 }],
    [{ errno: 1, sqlState: '40001' }],
    [{ code: 'SQLITE_BUSY' }],
    [{ code: 'SQLITE_BUSY_SNAPSHOT' }],
    [{ code: 'SQLITE_FULL' }],
    [{ code: 'SQLITE_LOCKED' }],
  ])('%j is to repeat the transaction', (error) => {
    expect(classifyError(error)).toBe('again');
  });

  it.each([
    [{ code: 'PROTOCOL_CONNECTION_LOST', fatal: true }],
    [{ code: 'PROTOCOL_SEQUENCE_TIMEOUT' }],
    [{ code: 'ECONNRESET', errno: -104 }],
    [{ code: 'ECONNREFUSED' }],
    [{ code: 'EPIPE' }],
    [{ errno: 1047 }],
    [{ errno: 1290 }],
    [{ errno: 4031 }],
    [{ message: 'Connection lost: The server closed the connection.' }],
    [{ message: "Can't add new command when connection is in closed state", fatal: true }],
  ])('%j is to use another connection', (error) => {
    expect(classifyError(error)).toBe('reconnect');
  });

  it.each([
    [{ errno: 1064, code: 'ER_PARSE_ERROR' }],
    [{ errno: 1062 }],
    [new Error('no')],
    [undefined],
    [null],
    ['text'],
  ])('%j is to do nothing', (error) => {
    expect(classifyError(error)).toBe('none');
  });

  it('is to do nothing for an error that was already prepared for the caller', () => {
    expect(classifyError(new StoreUnavailableError('Connection lost: x', 'unknown'))).toBe('none');
  });
});
