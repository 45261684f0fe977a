import { Hosts, hostList } from '../../lib/store/dialects/hosts.js';

describe('the nodes of a cluster', () => {
  it('are left by all threads of a process together', () => {
    const list = hostList(['a', 'b', 'c']);
    const [hosts, ofThread] = [new Hosts(list), new Hosts(structuredClone(list))];

    ofThread.leave(0);

    expect(hosts.current).toMatchObject({ host: 'b' });
    expect(hosts.turn).toBe(1);
  });

  it('are left one at a time, however many find the same one away', () => {
    const hosts = new Hosts(hostList(['a', 'b', 'c']));

    hosts.leave(0);
    hosts.leave(0);

    expect(hosts.current).toMatchObject({ host: 'b' });
  });

  it('begin again at the first after the last', () => {
    const hosts = new Hosts(hostList(['a', 'b']));

    hosts.leave(0);
    hosts.leave(1);

    expect(hosts.current).toMatchObject({ host: 'a' });
  });

  it('stay where there is one', () => {
    const hosts = new Hosts(hostList(['a']));

    hosts.leave(0);

    expect(hosts.turn).toBe(0);
  });
});
