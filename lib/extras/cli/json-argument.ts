import { text } from 'node:stream/consumers';
import { readJson } from '../../job/json.js';
import type { Call } from './command.js';
import { UsageError } from './errors.js';

/**
 * The value of JSON in an argument, or in the standard input if the argument is `-`.
 *
 * @param what in the error, such as `payload`
 */
export async function jsonArgument(
  { options, terminal }: Pick<Call, 'options' | 'terminal'>,
  what: string,
  given: string,
): Promise<unknown> {
  const isInput = given === '-';
  // The input has ended after the JSON, so no answer can follow.
  if (isInput && !options.flag('yes'))
    throw new UsageError(`expected --yes, because the standard input has the ${what} and cannot answer a question`);
  const json = readJson(isInput ? await text(terminal.input) : given);
  if ('problem' in json) throw new UsageError(`the ${what}: ${json.problem}`);
  return json.value;
}
