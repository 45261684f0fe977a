/**
 * Facts about a log line, for loggers that write fields. The library sets `queue`, `jobId`, `name`, `attempt`, `workerId`
 * and `traceId` if it knows them, and never a payload.
 */
export type LogParams = Readonly<Record<string, unknown>>;

/** The log of the library and of handlers. */
export interface JobLogger {
  log(message: string, params?: LogParams): void;
  warn(message: string, params?: LogParams): void;
  error(message: string, stack?: string, params?: LogParams): void;
  debug(message: string, params?: LogParams): void;
}
