import { Logger } from '@nestjs/common';
import type { JobLogger, LogParams } from '../common/logger.js';
import { jsonOf } from '../common/message-text.js';

/**
 * How the parameters of a log line reach the logger of the application. `params`: as an object after the message, for the
 * ConsoleLogger of Nest 12. `object`: in one object with the message as `msg`, for nestjs-pino. `text`: after the message, as
 * in `queue=mail jobId=7`. `auto`: the way that fits the logger.
 */
export type LogFormat = 'auto' | 'params' | 'object' | 'text';

export const LOG_FORMATS = ['auto', 'params', 'object', 'text'] as const satisfies readonly LogFormat[];

/** Writes the log lines of the library, with their parameters, to the logger of the application. Never throws. */
export class NestJobLogger implements JobLogger {
  readonly #logger: Logger;

  constructor(
    context: string,
    private readonly format: LogFormat = 'auto',
  ) {
    this.#logger = new Logger(context);
  }

  log(message: string, params?: LogParams): void {
    this.#write('log', message, params);
  }

  warn(message: string, params?: LogParams): void {
    this.#write('warn', message, params);
  }

  error(message: string, stack?: string, params?: LogParams): void {
    this.#write('error', message, params, stack);
  }

  debug(message: string, params?: LogParams): void {
    this.#write('debug', message, params);
  }

  #write(level: 'log' | 'warn' | 'error' | 'debug', message: string, params?: LogParams, stack?: string): void {
    try {
      const stacks = stack === undefined ? [] : [stack];
      // The application may replace its logger at any time.
      const format = this.format === 'auto' ? formatOf(currentLogger()) : this.format;
      if (!params) this.#logger[level](message, ...stacks);
      else if (format === 'object') this.#logger[level]({ ...params, ...stackField(stack), msg: message });
      else if (format === 'params') this.#logger[level](message, ...stacks, params);
      else this.#logger[level](`${message} ${textOf(params)}`, ...stacks);
    } catch {
      // Its stream may be closed. After a commit, an exception would look like an error of the database.
    }
  }
}

/** As pino writes errors. */
function stackField(stack: string | undefined): { err?: { stack: string } } {
  return stack === undefined ? {} : { err: { stack } };
}

function textOf(params: LogParams): string {
  return Object.entries(params)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : jsonOf(value)}`)
    .join(' ');
}

/** Recognizes loggers by their features, because several copies of Nest can be loaded. */
function formatOf(logger: unknown): 'params' | 'object' | 'text' {
  if (typeof logger !== 'object' || logger === null) return 'text';
  // The ConsoleLogger of Nest 12.
  if ('stringifyParams' in logger)
    return (logger as { options?: { structuredParams?: boolean } }).options?.structuredParams === false
      ? 'text'
      : 'params';
  // The Logger of nestjs-pino, which ignores all arguments between the message and the context.
  return 'contextName' in logger && 'call' in logger ? 'object' : 'text';
}

/** Nest has no public way to read it. */
function currentLogger(): unknown {
  return (Logger as unknown as { staticInstanceRef?: unknown }).staticInstanceRef;
}
