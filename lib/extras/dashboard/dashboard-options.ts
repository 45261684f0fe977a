import { kind, option } from '../../job/option-schema.js';
import type { Redact } from './redactor.js';
import { isOrigin } from './request-origin.js';

/** The options that both dashboards have. */
export interface DashboardOptions {
  /**
   * Hides parts of payloads, headers, results, progress, errors, log lines and the payloads of schedules, on the server.
   * Patterns match the keys whose values are hidden. A function returns the value to show instead. Default: keys that match
   * /pass|secret|token|authorization|card|iban/i.
   */
  redact?: Redact;
  /** Refuses every change. Default false. */
  readOnly?: boolean;
  /**
   * Public origins of the dashboard, such as `https://ops.example.com`, if a proxy changes the Host header. Default: the host
   * of each request.
   */
  origins?: readonly string[];
}

const PATH = /^\/?(?!\.+(\/|$))[\w.~-]+(\/(?!\.+(\/|$))[\w.~-]+)*\/?$/;

const isText = (value: unknown): value is string => typeof value === 'string';
const isPattern = (value: unknown): boolean => value instanceof RegExp;

export const INSTANCE = option(kind('the name of an instance', isText));

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

/** The path of a dashboard, below the global prefix of the application. */
export function pathLike(example: string) {
  return option(
    kind(
      `a path such as ${example}, without a parameter`,
      (value): value is string => isText(value) && PATH.test(value),
    ),
  );
}
