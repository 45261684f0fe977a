import type { Command } from '../command.js';
import { jsonArgument } from '../json-argument.js';

export const signal: Command = {
  usage: '<name> <key> [json | -]',
  args: [2, 3],
  async run({ engine, args: [name, key, given], options, output, terminal, confirm }) {
    const data = given === undefined ? undefined : await jsonArgument({ options, terminal }, 'data', given);
    await confirm(`Send the signal ${name} with the key ${key}?`);
    const woken = await engine.admin.signal(name!, key!, data);
    output.result({ name, key, woken }, () =>
      woken === null
        ? 'The signal is stored. A worker wakes the jobs that wait for it within a minute.'
        : `The signal has woken ${woken === 1 ? '1 job' : `${woken} jobs`}.`,
    );
  },
};
