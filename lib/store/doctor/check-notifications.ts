import { ok, problem, type Check } from './check.js';

/** Sends a notification to a listener of this process, on the way of the notifications between processes. */
export const checkNotifications: Check = {
  name: 'notifications',
  async run({ channel }) {
    if (!channel) return [ok('no other process can open the database')];
    const facts = await channel.findProblem(new AbortController().signal);
    if (facts === undefined) return [ok('a test notification arrived')];
    const wayOut =
      'Workers find jobs of other processes by polling, within two seconds. Connect without a proxy, or set ' +
      '`worker: { notify: false }`: docs/operations.md.';
    return [problem(facts, wayOut)];
  },
};
