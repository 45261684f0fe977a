import { InvalidOptionsError } from './errors.js';
import { expected } from './expectation.js';
import type { QueueName } from './queue-jobs.js';

const NAME = /^[A-Za-z0-9._:-]{1,100}$/;
export const NAME_EXPECTED = `1 to 100 of the characters A-Z a-z 0-9 . _ : -`;

export const DEFAULT_JOB_NAME = 'default';

export function nameProblem(
  what: 'queue name' | 'job name' | 'header name' | 'topic' | 'deadLetter' | 'step name',
  value: unknown,
): string | undefined {
  return isName(value) ? undefined : expected(false, `${what} to be ${NAME_EXPECTED}`, value);
}

export function checkQueueName(value: unknown): asserts value is QueueName {
  if (!isName(value)) throw new InvalidOptionsError('Invalid queue', [nameProblem('queue name', value)!]);
}

export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}
