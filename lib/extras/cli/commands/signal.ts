import { text } from 'node:stream/consumers';
import { readJson } from '../../../job/json.js';
import type { Command } from '../command.js';
import { UsageError } from '../errors.js';

export const signal: Command = {
  usage: '<name> <key> [json | -]',
  args: [2, 3],
  async run({ engine, args: [name, key, given], output, terminal, confirm }) {
    const data =
      given === undefined ? { value: undefined } : readJson(given === '-' ? await text(terminal.input) : given);
    if ('problem' in data) throw new UsageError(`the data: ${data.problem}`);
    await confirm(`Send the signal ${name} with the key ${key}?`);
    const woken = await engine.admin.signal(name!, key!, data.value);
    output.result({ name, key, woken }, () =>
      woken === null
        ? 'The signal is stored. A worker wakes the jobs that wait for it within a minute.'
        : `The signal has woken ${woken === 1 ? '1 job' : `${woken} jobs`}.`,
    );
  },
};
