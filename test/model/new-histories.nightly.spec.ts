import { describeServers } from '../support/servers.js';
import { checkHistories } from './check-histories.js';
import type { Feature } from './commands.js';

const MINUTES_EACH = 1;

const newSeed = () => Math.trunc(Math.random() * 2 ** 31);

describeServers('new random histories of all verbs', (server) => {
  it('run each job once for its payload, at its time and within its limits, and leave nothing', async () => {
    await checkHistories(server, {
      runs: 10_000,
      seed: newSeed(),
      maxCommands: 40,
      endAfterMs: 3 * MINUTES_EACH * 60_000,
    });
  });

  // Two features at a time meet each other more often.
  it.each(pairs())('do so with $0 and $1 alone', async (...features: Feature[]) => {
    await checkHistories(server, {
      runs: 30,
      seed: newSeed(),
      features,
      maxCommands: 20,
      endAfterMs: MINUTES_EACH * 60_000,
    });
  });
});

function pairs(): [Feature, Feature][] {
  return [
    ['keys', 'flows'],
    ['keys', 'signals'],
    ['keys', 'groups'],
    ['signals', 'jobs'],
    ['signals', 'locks'],
    ['flows', 'jobs'],
    ['flows', 'locks'],
    ['groups', 'locks'],
    ['groups', 'kills'],
    ['schedules', 'locks'],
    ['clocks', 'kills'],
    ['mistakes', 'kills'],
  ];
}
