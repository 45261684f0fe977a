import { ApiError, messageOf } from '../api.js';
import type { Field } from './field.js';

/** A mistake in one field of a form that the page itself finds. */
export class FieldError extends Error {
  constructor(
    readonly field: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The texts beside the fields, and the text for the whole form. */
export interface Problems {
  readonly byField: ReadonlyMap<string, string>;
  readonly rest: string;
}

export const NO_PROBLEMS: Problems = { byField: new Map(), rest: '' };

// The field that an error of the server is about, by its code.
const FIELD_OF_CODE: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'key',
  PAYLOAD_INVALID: 'payload',
  PAYLOAD_TOO_LARGE: 'payload',
  QUEUE_FULL: 'queue',
  SCHEDULE_CONFLICT: 'name',
  SCHEDULE_EXISTS: 'name',
};

/** Sorts the problems of an error by the fields of the form. */
export function problemsOf(error: unknown, fields: readonly Field[]): Problems {
  const names = fields.map(({ name }) => name);
  const isShown = (name: string | undefined): name is string => name !== undefined && names.includes(name);
  if (error instanceof FieldError && isShown(error.field)) return only(error.field, error.message);
  if (!(error instanceof ApiError)) return { byField: new Map(), rest: messageOf(error) };
  const isQueue = error.code === 'NOT_FOUND' && error.message.startsWith('Queue ');
  const byCode = isQueue ? 'queue' : FIELD_OF_CODE[error.code ?? ''];
  if (isShown(byCode)) return only(byCode, error.message);
  const byField = new Map<string, string>();
  const rest: string[] = [];
  for (const problem of error.problems ?? [error.message]) {
    const field = error.problems && fieldIn(problem, names);
    if (field === undefined) rest.push(problem);
    else byField.set(field, [byField.get(field), problem].filter(Boolean).join('; '));
  }
  return { byField, rest: rest.join('\n') };
}

/** The field that the problem names first, before the value that the server got. */
export function fieldIn(problem: string, names: readonly string[]): string | undefined {
  const words = problem.split(', got ')[0]!.split(/\W+/);
  return words.find((word) => names.includes(word));
}

const only = (field: string, message: string): Problems => ({ byField: new Map([[field, message]]), rest: '' });
