import { connectionFields, type MysqlOptions } from '../../lib/store/dialects/mysql-options.js';

function fieldsOf(options: Partial<MysqlOptions>): object {
  return connectionFields({ type: 'mysql', ...options });
}

describe('the library’s own connections', () => {
  it('go where the application’s go', () => {
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

  it('take nothing that would touch the application’s tables', () => {
    expect(fieldsOf({ host: 'h', dropSchema: true, synchronize: true, timezone: 'Z', charset: 'x' })).toEqual({
      host: 'h',
    });
  });

  it('understand a URL, with what is escaped in it', () => {
    expect(fieldsOf({ url: 'mysql://u%40x:p%2F@[::1]:3307/my%20db?x=1' })).toEqual({
      host: '::1',
      port: 3307,
      user: 'u@x',
      password: 'p/',
      database: 'my db',
    });
  });

  it('let the URL win over the fields beside it', () => {
    expect(fieldsOf({ url: 'mysql://u@h/d', host: 'x', port: 9, password: 'p' })).toEqual({
      host: 'h',
      port: 9,
      user: 'u',
      password: 'p',
      database: 'd',
    });
  });

  it('go to the primary where there is replication', () => {
    const replication = { master: { host: 'primary', username: 'u', database: 'd' }, slaves: [{ host: 'replica' }] };

    expect(fieldsOf({ replication })).toEqual({ host: 'primary', user: 'u', database: 'd' });
  });

  it('take from extra what says how to connect, and nothing else', () => {
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
