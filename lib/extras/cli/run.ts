import { hostname, userInfo } from 'node:os';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { CLAIM_STRATEGIES } from '../../job/claim-strategy.js';
import { hasCode } from '../../job/errors.js';
import { didYouMean } from '../../common/message-text.js';
import { CallOptions, oneOf, optionsOf, wholeNumber, type Command } from './command.js';
import { confirm } from './confirm.js';
import { commandHelp } from './help.js';
import { UsageError } from './errors.js';
import { Output, printable } from './output.js';
import { packageVersion } from './package-version.js';
import { SUMMARIES } from './summaries.js';
import type { Terminal } from './terminal.js';

const BENCH_USAGE = `[--jobs N] [--bytes N] [--claim auto|${CLAIM_STRATEGIES.join('|')}]`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const COMMON_OPTIONS = { url: text, prefix: text, json: flag, yes: flag, help: { ...flag, short: 'h' } } as const;
const BENCH_OPTIONS = { url: text, ...optionsOf(BENCH_USAGE), help: COMMON_OPTIONS.help };

/** Runs a command. Returns the exit code: 0, 1 if it has failed, or 2 if the call is wrong. Never rejects. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<0 | 1 | 2> {
  try {
    await runCommand(argv, env, terminal);
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError || hasCode(error, 'INVALID_OPTIONS');
    const { message } = error as Error;
    terminal.writeError(`${printable(message)}\n${isUsage ? '`nestjs-sql-queue --help` lists the commands.\n' : ''}`);
    return isUsage ? 2 : 1;
  }
}

async function runCommand(argv: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<void> {
  const [name, ...rest] = argv;
  if (name === '--version' || name === '-v') {
    terminal.write(`${packageVersion()}\n`);
    return;
  }
  if (name === undefined || name === 'help' || name.startsWith('-')) {
    if (name !== undefined && !['help', '--help', '-h'].includes(name))
      throw new UsageError(`expected a command first, got "${name}"`);
    terminal.write(`${help()}\n`);
    return;
  }
  if (!isCommand(name)) throw new UsageError(`unknown command "${name}"${didYouMean(name, Object.keys(SUMMARIES))}`);
  if (name === 'bench') return runBench(rest, env, terminal);
  const { COMMANDS } = await import('./commands.js');
  await runOn(name, COMMANDS[name], { argv: rest, env, terminal });
}

function isCommand(name: string): name is keyof typeof SUMMARIES {
  return Object.hasOwn(SUMMARIES, name);
}

async function runOn(
  name: keyof typeof SUMMARIES,
  command: Command,
  { argv, env, terminal }: { argv: string[]; env: NodeJS.ProcessEnv; terminal: Terminal },
): Promise<void> {
  const known = { ...optionsOf(command.usage), ...COMMON_OPTIONS };
  const { options, args } = parse(argv, known);
  if (options.flag('help')) {
    terminal.write(`${commandHelp(name, command.usage, known)}\n`);
    return;
  }
  const [min, max] = command.args ?? [0, 0];
  if (args.length < min || args.length > max)
    throw new UsageError(`expected nestjs-sql-queue ${name} ${command.usage}, got ${args.length} arguments`);
  const target = {
    url: urlOf(options, env),
    prefix: options.text('prefix') ?? env.SQL_QUEUE_PREFIX,
    warn: (message: string) => terminal.writeError(`${printable(message)}\n`),
  };
  const output = new Output(options.flag('json'), (line) => terminal.write(line));
  const ask = (question: string) => confirm(terminal, question, options.flag('yes'));
  const call = { target, args, options, output, terminal, env, confirm: ask };
  if ('runUnopened' in command) return command.runUnopened(call);
  const { connectExisting } = await import('./connect.js');
  const { dataSource, engine } = await connectExisting(target, command.defaults);
  try {
    const author = authorOf();
    const named = { ...engine, admin: engine.admin.as(author), schedules: engine.schedules.as(author) };
    await command.run({ ...call, engine: named, dataSource });
  } finally {
    await engine.shutdown.close();
  }
}

async function runBench(argv: string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<void> {
  const { options, args } = parse(argv, BENCH_OPTIONS);
  if (options.flag('help')) {
    terminal.write(`${commandHelp('bench', BENCH_USAGE, BENCH_OPTIONS)}\n`);
    return;
  }
  if (args.length > 0) throw new UsageError(`expected nestjs-sql-queue bench ${BENCH_USAGE}, got "${args[0]}"`);
  const claim = oneOf('--claim to be a strategy', ['auto', ...CLAIM_STRATEGIES], options.text('claim') ?? 'auto');
  // It loads Nest, which no other command needs.
  const { bench } = await import('./commands/bench.js');
  await bench({
    claim,
    url: urlOf(options, env),
    jobs: wholeNumber('--jobs', options.text('jobs') ?? '20000', 1_000, 1_000_000),
    bytes: wholeNumber('--bytes', options.text('bytes') ?? '100', 1, 100_000),
  });
}

function parse(argv: string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
    return { options: new CallOptions(values), args: positionals };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function urlOf(options: CallOptions, env: NodeJS.ProcessEnv): string {
  const url = options.text('url') ?? env.SQL_QUEUE_URL;
  if (!url) throw new UsageError('expected the URL of the database in SQL_QUEUE_URL or --url, got none');
  return url;
}

/** The name of the user in the audit. */
function authorOf(): string {
  return `cli:${userName()}@${hostname()}`.slice(0, 255);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The account of a container may have no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}

function help(): string {
  const lines = Object.entries(SUMMARIES).map(([name, summary]) => `  ${name.padEnd(13)} ${summary}`);
  return `Usage: nestjs-sql-queue <command> …

${lines.join('\n')}

  --url      mysql://user:password@host:3306/database, mariadb://… or sqlite:<file>. Default: SQL_QUEUE_URL, which
             other users of the machine cannot read
  --prefix   of the tables, if the module has one. Default: SQL_QUEUE_PREFIX, or sql_queue_
  --json     one JSON document instead of text
  --yes      change without a question
  --help     after a command: its arguments and options, with an example
  --version  the version of the package

Exit code: 0, 1 if the command has failed, or 2 if the call is wrong.`;
}
