import { DataSource } from 'typeorm';
import { connectionOptions, type MysqlOptions } from '../../lib/store/databases/mysql/mysql-options.js';

function fieldsOf(options: Partial<MysqlOptions>): object {
  return connectionOptions({ type: 'mysql', ...options });
}

/** The options that TypeORM gives the driver for its own connections. */
function typeOrmFieldsOf(options: Partial<MysqlOptions>): Record<string, unknown> {
  const dataSource = new DataSource({ type: 'mysql', ...options });
  const driver = dataSource.driver as unknown as {
    createConnectionOptions(all: object, credentials: object): Record<string, unknown>;
  };
  return driver.createConnectionOptions(dataSource.options, dataSource.options);
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

  it.each([
    ['p#s', 'p#s'],
    ['p?s', 'p?s'],
    ['p@s', 'p@s'],
    ['p:s', 'p:s'],
    ['p[s]^|\\<> &=+;"', 'p[s]^|\\<> &=+;"'],
    ['p%23%2Fs%25', 'p#/s%'],
    ['пароль', 'пароль'],
  ])('accept the password %s in a URL', (written, password) => {
    expect(fieldsOf({ url: `mysql://u%40x:${written}@h:3307/db?charset=utf8` })).toEqual({
      host: 'h',
      port: 3307,
      user: 'u@x',
      password,
      database: 'db',
    });
  });

  it.each([
    'mysql://u:p#?@s@h:3307/d?x=1',
    'mysql://u%40x:p%23%3F%2F%25@h/my%20db',
    'mysql://u@h',
    'mysql://h:3306/',
    'mariadb://u:@h/d#x',
    'mysql://:p@h/d/e?f/g',
  ])('use the fields that TypeORM reads from %s', (url) => {
    const options = { url, host: 'x', port: 9, username: 'y', password: 'z', database: 'w', socketPath: '/s' };
    const { host, port, user, password, database, socketPath } = typeOrmFieldsOf(options);

    expect(fieldsOf(options)).toEqual({ host, port, user, password, database, socketPath });
  });

  it('use the socket of the primary of a replication', () => {
    const master = { socketPath: '/primary', username: 'u' };

    expect(fieldsOf({ socketPath: '/other', replication: { master, slaves: [] } })).toEqual({
      socketPath: '/primary',
      user: 'u',
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
