import { toMs } from '../../../common/units.js';
import type { QueueConfiguration } from '../../../job/settings/queue-configuration.js';
import { requireUnlessCreated } from '../existing-queue.js';
import { wholeNumber, type Call, type Command } from '../command.js';
import { UsageError } from '../errors.js';

const SETTINGS: Readonly<Record<keyof QueueConfiguration, (text: string) => unknown>> = {
  concurrency: (text) => wholeNumber('concurrency', text, 1, 10_000),
  paused: (text) => flagOf('paused', text),
  maxRunning: (text) => (text === 'false' ? false : wholeNumber('maxRunning', text, 1, 1_000_000)),
  rate: rateOf,
  enabled: enabledOf,
};

export const set: Command = {
  usage: `<queue> [${Object.keys(SETTINGS).join('=… ')}=…] [--create] | <queue> --reset`,
  args: [1, 6],
  run: setQueue,
};

async function setQueue(call: Call): Promise<void> {
  const { engine, args, options, output, confirm } = call;
  const [queue, ...pairs] = args;
  if ((pairs.length === 0) !== options.flag('reset')) throw new UsageError('expected either settings or --reset');
  const settings = options.flag('reset') ? null : settingsOf(pairs);
  await requireUnlessCreated(call, queue!);
  await confirm(`${settings ? 'Change' : 'Reset'} the settings of ${queue}?`);
  await engine.admin.configure(queue!, settings, { create: options.flag('create') });
  output.result({ queue, settings }, () => `${settings ? 'Changed' : 'Reset'} the settings of ${queue}.`);
}

function settingsOf(pairs: readonly string[]): QueueConfiguration {
  const settings: Record<string, unknown> = {};
  for (const pair of pairs) {
    const [, name = pair, text = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
    if (!Object.hasOwn(SETTINGS, name))
      throw new UsageError(`expected a setting like ${Object.keys(SETTINGS).join('=… or ')}=…, got "${pair}"`);
    settings[name] = text === 'null' ? null : SETTINGS[name as keyof QueueConfiguration](text);
  }
  return settings;
}

function flagOf(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new UsageError(`expected ${name} to be true or false, got "${text}"`);
}

function rateOf(text: string): QueueConfiguration['rate'] {
  if (text === 'false') return false;
  const [, limit, per] = /^(\d+)\/(.+)$/.exec(text) ?? [];
  const perMs = toMs(per);
  if (limit === undefined || perMs === undefined)
    throw new UsageError(`expected rate to be like 100/1m, or false, got "${text}"`);
  return { limit: Number(limit), per: perMs };
}

function enabledOf(text: string): QueueConfiguration['enabled'] {
  if (text === 'true' || text === 'false') return text === 'true';
  const [, from, to, tz] = /^(\d\d:\d\d)-(\d\d:\d\d)(?:@(.+))?$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw new UsageError(`expected enabled to be true, false or like 08:00-18:00@Europe/Berlin, got "${text}"`);
  return { from, to, ...(tz !== undefined && { tz }) };
}
