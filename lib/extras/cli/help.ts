import type { ParseArgsConfig } from 'node:util';
import { COMMAND_HELP, OPTION_HELP } from './option-help.js';
import { SUMMARIES } from './summaries.js';

type CommandName = keyof typeof SUMMARIES;

/** The help of one command: its usage, each option with its values, and an example. */
export function commandHelp(
  name: CommandName,
  usage: string,
  options: NonNullable<ParseArgsConfig['options']>,
): string {
  const lines = Object.entries(options).map(([option, { short }]): [string, string] => [
    `${short === undefined ? '' : `-${short}, `}--${option}`,
    optionHelp(name, option),
  ]);
  const width = Math.max(...lines.map(([option]) => option.length));
  return [
    `Usage: nestjs-sql-queue ${name}${usage === '' ? '' : ` ${usage}`}`,
    '',
    SUMMARIES[name],
    '',
    ...lines.map(([option, text]) => `  ${option.padEnd(width)}  ${text}`),
    '',
    `Example: nestjs-sql-queue ${COMMAND_HELP[name].example}`,
  ].join('\n');
}

/** The text of an option, which may differ between commands. */
export function optionHelp(name: CommandName, option: string): string {
  const own: Readonly<Record<string, string>> = COMMAND_HELP[name].options ?? {};
  return own[option] ?? OPTION_HELP[option] ?? '';
}
