import type { ParseArgsConfig } from 'node:util';
import type { DataSource } from 'typeorm';
import type { Engine } from '../../engine/engine.js';
import { defined } from '../../job/option-schema.js';
import type { QueueOptions } from '../../job/queue-options.js';
import type { Target } from './connect.js';
import { UsageError } from './errors.js';
import type { Output } from './output.js';
import type { Terminal } from './terminal.js';

/** The options of a call, as they were written: texts, flags, and lists of texts. */
export class CallOptions {
  constructor(private readonly values: Readonly<Record<string, unknown>>) {}

  text(name: string): string | undefined {
    return this.values[name] as string | undefined;
  }

  /** The texts of these names that the call has. */
  given<Name extends string>(...names: readonly Name[]): { [Key in Name]?: string } {
    return defined(Object.fromEntries(names.map((name) => [name, this.text(name)]))) as never;
  }

  texts(name: string): readonly string[] {
    return (this.values[name] as string[] | undefined) ?? [];
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  wholeNumber(name: string, min: number, max: number): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : wholeNumber(`--${name}`, text, min, max);
  }

  /** The page of a list, with so many lines unless the call has `--limit`. */
  page(lines = 20): { limit: number; after: string | undefined } {
    return { limit: this.wholeNumber('limit', 1, 1_000) ?? lines, after: this.text('after') };
  }
}

/** A call before the queue is open. */
export interface UnopenedCall {
  readonly target: Target;
  readonly args: readonly string[];
  readonly options: CallOptions;
  readonly output: Output;
  readonly terminal: Terminal;
  /** The environment of the process. */
  readonly env: NodeJS.ProcessEnv;
  /** Asks the user whether to do it. Rejects if the answer is no, or if there is no terminal and no `--yes`. */
  confirm(question: string): Promise<void>;
}

export interface Call extends UnopenedCall {
  readonly engine: Engine;
  /** The connections of the engine, for transactions. */
  readonly dataSource: DataSource;
}

interface CommandForm {
  /** The arguments and options after the name of the command. It declares the options: see `optionsOf`. */
  readonly usage: string;
  /** The number of arguments. Default: none. */
  readonly args?: readonly [min: number, max: number];
}

/** A command on the open queue. It refuses tables of another version. */
export interface QueueCommand extends CommandForm {
  /** The options of all queues in this call. */
  readonly defaults?: QueueOptions;
  run(call: Call): Promise<void>;
}

/** A command that opens the database itself, whatever tables it has. */
export interface DatabaseCommand extends CommandForm {
  runUnopened(call: UnopenedCall): Promise<void>;
}

export type Command = QueueCommand | DatabaseCommand;

/** An option in a usage: its short form, its name and the word for its value. */
const OPTION = /(?:-(\w), )?--([\w-]+)(?: (?!\|)([^\s\]]+))?/g;

/** The options of a usage: `--limit N` takes a text, `--oldest` none, and `--header NAME=VALUE` may be repeated. */
export function optionsOf(usage: string): NonNullable<ParseArgsConfig['options']> {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [, short, name, word] of usage.matchAll(OPTION)) {
    options[name!] = {
      type: word === undefined ? 'boolean' : 'string',
      multiple: word?.includes('=') === true,
      ...(short !== undefined && { short }),
    };
  }
  return options;
}

export function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`expected ${name} to be a whole number from ${min} to ${max}, got "${text}"`);
}

/** @param expected in the error, such as `--step to be minute or hour` */
export function oneOf<Word extends string>(expected: string, words: readonly Word[], text: string): Word {
  const word = words.find((one) => one === text);
  if (word === undefined) throw new UsageError(`expected ${expected}, got "${text}"`);
  return word;
}

export function jobId(text: string): number {
  return wholeNumber('the id of a job', text, 1, Number.MAX_SAFE_INTEGER);
}
