import { StoreUnavailableError } from '../../lib/job/errors.js';
import { remedyFor } from '../../lib/store/sql/remedy.js';

describe('the remedy for an error of the database', () => {
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
  ])('%j is to do the transaction again', (error) => {
    expect(remedyFor(error)).toBe('again');
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
  ])('%j is another connection', (error) => {
    expect(remedyFor(error)).toBe('reconnect');
  });

  it.each([
    [{ errno: 1064, code: 'ER_PARSE_ERROR' }],
    [{ errno: 1062 }],
    [new Error('no')],
    [undefined],
    [null],
    ['text'],
  ])('%j is none', (error) => {
    expect(remedyFor(error)).toBe('none');
  });

  it('is none for what has been told the caller already', () => {
    expect(remedyFor(new StoreUnavailableError('Connection lost: x', 'unknown'))).toBe('none');
  });
});
