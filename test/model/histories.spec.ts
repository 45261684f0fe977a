import { describeServers } from '../support/servers.js';
import { checkHistories } from './check-histories.js';

// One seed, because a fault of the product that a new history finds must not refuse a change that did not cause it.
describeServers('random histories of all verbs', (server) => {
  it('run each job once for its payload, at its time and within its limits, and leave nothing', async () => {
    await checkHistories(server, { runs: server.name === 'sqlite' ? 60 : 12, seed: 7, maxCommands: 20 });
  });
});
