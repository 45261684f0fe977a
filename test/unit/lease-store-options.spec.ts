import Sqlite from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { hostList } from '../../lib/store/databases/port/hosts.js';
import { leaseStoreOptions } from '../../lib/store/lease-store-options.js';

const settings = { prefix: undefined, hosts: hostList(), shortestLeaseMs: 1_000, skewMs: 0 };
const FILE = { type: 'better-sqlite3', database: 'queue.sqlite' };

const optionsFor = (options: object) => leaseStoreOptions({ options } as DataSource, settings).options;

describe('the heartbeat thread', () => {
  it('receives the options of the connection', () => {
    const options = optionsFor({ ...FILE, key: 'secret', entities: [class Job {}] });

    expect(options).toEqual({ ...FILE, key: 'secret' });
  });

  it.each([
    ['better-sqlite3 itself', Sqlite],
    ['a module with it', { default: Sqlite }],
  ])('opens a SQLite file whose driver is %s', (_, driver) => {
    expect(optionsFor({ ...FILE, driver })).toEqual(FILE);
  });

  // It would load better-sqlite3, which may be missing, and cannot read what the other driver has encrypted.
  it('is refused for a SQLite file with another driver', () => {
    expect(() => optionsFor({ ...FILE, driver: class Encrypted extends Sqlite {} })).toThrow(
      `expected for heartbeat 'thread' a database that a thread can open on its own, got a driver other than better-sqlite3`,
    );
  });

  it('opens a server with any driver', () => {
    const server = { type: 'mysql', url: 'mysql://127.0.0.1/app' };

    expect(optionsFor({ ...server, driver: {} })).toEqual(server);
  });

  it('is refused for a database in memory', () => {
    expect(() => optionsFor({ ...FILE, database: ':memory:' })).toThrow('got a database in memory');
  });
});
