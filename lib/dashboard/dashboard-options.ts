import { kind, option } from '../job/option-schema.js';
import type { Redact } from './redactor.js';
import { isOrigin } from './request-origin.js';

const isPattern = (value: unknown): boolean => value instanceof RegExp;

export const REDACT = option(
  kind('a function, a RegExp or a list of them', (value): value is Redact =>
    Array.isArray(value) ? value.every(isPattern) : typeof value === 'function' || isPattern(value),
  ),
);

export const ORIGINS = option(
  kind(`a list of origins such as 'https://ops.example.com'`, (value): value is readonly string[] =>
    Array.isArray(value) ? value.every(isOrigin) : false,
  ),
  [],
);
