import { messageOf } from './message-text.js';

/**
 * Facts about a log line, for loggers that write fields. The library sets `queue`, `jobId`, `name`, `attempt`, `workerId`
 * and `traceId` if it knows them, and never a payload.
 */
export type LogParams = Readonly<Record<string, unknown>>;

/** The log of the library and of handlers. Its methods never throw. */
export interface JobLogger {
  log(message: string, params?: LogParams): void;
  warn(message: string, params?: LogParams): void;
  error(message: string, stack?: string, params?: LogParams): void;
  debug(message: string, params?: LogParams): void;
}

const MAX_MESSAGE_LENGTH = 500;

/** An error message for a log line: the messages of drivers can contain whole statements. */
export function logText(message: string): string {
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
}

/** A stack for a log line. It begins with the message. */
export function logStack(stack: string | undefined, message: string): string | undefined {
  return message.length > MAX_MESSAGE_LENGTH ? stack?.replace(message, () => logText(message)) : stack;
}

/** Logs once when an operation starts to fail and once when it works again, however often it is tried in between. */
export class OutageLog {
  #isFailing = false;

  /**
   * @param problem the beginning of the warning, such as "Cannot poll for jobs"
   * @param recovery the message when it works again. Default: none, if the log of another operation reports it
   */
  constructor(
    private readonly logger: JobLogger,
    private readonly problem: string,
    private readonly recovery?: string,
  ) {}

  onFailure(error: unknown): void {
    const line = `${this.problem}: ${logText(messageOf(error))}`;
    // The library goes on to try. Only the first failure is news.
    this.logger[this.#isFailing ? 'debug' : 'warn'](line);
    this.#isFailing = true;
  }

  /** For a PollLoop: logs the failure of its tick, and returns the pause before the next one. */
  retryAfter(pauseMs: number): (error: unknown) => number {
    return (error) => {
      this.onFailure(error);
      return pauseMs;
    };
  }

  onSuccess(): void {
    if (this.#isFailing && this.recovery !== undefined) this.logger.log(this.recovery);
    this.#isFailing = false;
  }
}
