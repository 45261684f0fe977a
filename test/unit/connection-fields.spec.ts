import { connectionOptions, type MysqlOptions } from '../../lib/store/mysql/mysql-options.js';

function fieldsOf(options: Partial<MysqlOptions>): object {
  return connectionOptions({ type: 'mysql', ...options });
}

describe('the library’s own connections', () => {
  it('use the address of the application’s connections', () => {
    const options = { host: 'h', port: 1, username: 'u', password: 'p', database: 'd', ssl: { ca: 'c' } };

    expect(fieldsOf(options)).toEqual({
      host: 'h',
      port: 1,
      user: 'u',
      password: 'p',
      database: 'd',
      ssl: { ca: 'c' },
    });
  });

  it('use no option that would change the application’s tables', () => {
    expect(fieldsOf({ host: 'h', dropSchema: true, synchronize: true, timezone: 'Z', charset: 'x' })).toEqual({
      host: 'h',
    });
  });

  it('accept a URL with escaped characters', () => {
    expect(fieldsOf({ url: 'mysql://u%40x:p%2F@[::1]:3307/my%20db?x=1' })).toEqual({
      host: '::1',
      port: 3307,
      user: 'u@x',
      password: 'p/',
      database: 'my db',
    });
  });

  it('prefer the URL to the fields beside it', () => {
    expect(fieldsOf({ url: 'mysql://u@h/d', host: 'x', port: 9, password: 'p' })).toEqual({
      host: 'h',
      port: 9,
      user: 'u',
      password: 'p',
      database: 'd',
    });
  });

  it('use the primary of a replication', () => {
    const replication = { master: { host: 'primary', username: 'u', database: 'd' }, slaves: [{ host: 'replica' }] };

    expect(fieldsOf({ replication })).toEqual({ host: 'primary', user: 'u', database: 'd' });
  });

  it('use the connection fields of `extra`, and no other fields', () => {
    const extra = {
      socketPath: '/s',
      ssl: { ca: 'c' },
      multipleStatements: true,
      connectionLimit: 1,
      flags: ['-FOUND_ROWS'],
    };

    expect(fieldsOf({ host: 'h', extra })).toEqual({ host: 'h', socketPath: '/s', ssl: { ca: 'c' } });
  });
});
