import { createConnection } from 'mysql2';
import { hostList } from '../../lib/store/databases/port/hosts.js';
import { Hosts } from '../../lib/store/databases/mysql/mysql-connections.js';

describe('the nodes of a cluster', () => {
  it('are left by all threads of a process together', () => {
    const list = hostList(['a', 'b', 'c']);
    const [hosts, ofThread] = [new Hosts(list), new Hosts(structuredClone(list))];

    ofThread.failOver(0);

    expect(hosts.current).toMatchObject({ host: 'b' });
    expect(hosts.generation).toBe(1);
  });

  it('are left one at a time if several connections find the same node unavailable', () => {
    const hosts = new Hosts(hostList(['a', 'b', 'c']));

    hosts.failOver(0);
    hosts.failOver(0);

    expect(hosts.current).toMatchObject({ host: 'b' });
  });

  it('start again with the first after the last', () => {
    const hosts = new Hosts(hostList(['a', 'b']));

    hosts.failOver(0);
    hosts.failOver(1);

    expect(hosts.current).toMatchObject({ host: 'a' });
  });

  it('stay the same if there is only one', () => {
    const hosts = new Hosts(hostList(['a']));

    hosts.failOver(0);

    expect(hosts.generation).toBe(0);
  });

  it.each([
    ['db-2', { host: 'db-2', port: 3307 }],
    ['db-2:3308', { host: 'db-2', port: 3308 }],
    ['[::1]', { host: '::1', port: 3307 }],
  ])('have the given port if they have none, as %s', (name, node) => {
    expect(new Hosts(hostList([name]), 3307).current).toEqual(node);
  });

  it.each([
    ['its own name', 'localhost:1', 'localhost'],
    ['the name of the DataSource if it is an address', '127.0.0.1:1', 'db-1'],
  ])('prove by TLS that each has %s', (_, node, name) => {
    const { connectionOptions } = new Hosts(hostList([node]));

    const connection = createConnection({ host: 'db-1', ...connectionOptions });
    connection.on('error', () => undefined);
    connection.destroy();

    // The driver takes the name to verify from it.
    expect(connection.config.host).toBe(name);
  });
});
