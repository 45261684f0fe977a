import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { parseArgs } from 'node:util';
import { optionsOf } from '../../lib/extras/cli/command.js';
import { COMMANDS } from '../../lib/extras/cli/commands.js';
import { optionHelp } from '../../lib/extras/cli/help.js';
import { COMMAND_HELP } from '../../lib/extras/cli/option-help.js';
import { run } from '../../lib/extras/cli/run.js';

const names = Object.keys(COMMANDS) as (keyof typeof COMMANDS)[];

async function call(...args: string[]) {
  const ended = { code: 0, out: '', err: '' };
  const terminal = { input: new PassThrough(), isInteractive: false, rows: () => undefined };
  const write = (text: string) => void (ended.out += text);
  ended.code = await run(args, {}, { ...terminal, write, writeError: (text) => void (ended.err += text) });
  return ended;
}

describe('the command line', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8')) as {
      version: string;
    };

    expect(await call('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  it('explains each option of a command with its values, and shows an example', async () => {
    expect((await call('history', '--help')).out)
      .toBe(`Usage: nestjs-sql-queue history <queue> [--step minute|hour|day] [--count N]

the attempts of a queue per minute, hour or day, with their waiting and running times

  --step      minute, hour or day; default minute
  --count     the number of steps, 1 to 500; default 30
  --url       mysql://user:password@host:3306/database, mariadb://… or sqlite:<file>; default SQL_QUEUE_URL
  --prefix    the prefix of the tables; default SQL_QUEUE_PREFIX, or sql_queue_
  --json      one JSON document instead of text
  --yes       change without a question
  -h, --help  this text

Example: nestjs-sql-queue history email.send --step hour --count 24
`);
  });

  it.each([...names, 'bench'])('has a text for each option of %s, and no other texts', async (name) => {
    const { out } = await call(name, '--help');
    const lines = out.split('\n').filter((line) => line.startsWith('  -'));

    expect(lines.filter((line) => !/^  (-\w, )?--[\w-]+ +\S/.test(line))).toEqual([]);
    for (const option of Object.keys(COMMAND_HELP[name as keyof typeof COMMAND_HELP].options ?? {}))
      expect(out).toMatch(new RegExp(`^  (-\\w, )?--${option} `, 'm'));
  });

  it.each(names)('accepts the options and the number of arguments in the example of %s', (name) => {
    const { usage, args: [min, max] = [0, 0] } = COMMANDS[name];
    const [first, ...words] = COMMAND_HELP[name].example.split(' ');
    const flag = { type: 'boolean' } as const;
    const options = { json: flag, yes: flag, ...optionsOf(usage) };

    const { positionals } = parseArgs({ args: words, options, allowPositionals: true });

    expect(first).toBe(name);
    expect(positionals.length).toBeGreaterThanOrEqual(min);
    expect(positionals.length).toBeLessThanOrEqual(max);
  });

  it('takes the options of a command from its usage', () => {
    const usage = '<id…> | --all | [--to Q [--create]] [--by a|b] [--header NAME=VALUE] [--old | --new] [-f, --follow]';
    const text = { type: 'string', multiple: false };
    const flag = { type: 'boolean', multiple: false };

    expect(optionsOf(usage)).toEqual({
      ...{ all: flag, to: text, create: flag, by: text, header: { type: 'string', multiple: true } },
      ...{ old: flag, new: flag, follow: { ...flag, short: 'f' } },
    });
  });

  it('has no text for an option that no command has', () => {
    expect(optionHelp('list', 'nothing')).toBe('');
  });
});
