import { FieldError } from './field-problems.js';

/**
 * The value of a field with JSON.
 *
 * @param subject as in `The payload is`
 * @throws FieldError for the dialog
 */
export function parsedJson(text: string, field: string, subject: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FieldError(field, `${subject} no JSON: ${(error as Error).message}`, { cause: error });
  }
}
