/** The log of the library and of handlers. The Logger of Nest implements it. */
export interface JobLogger {
  log(message: string): void;
  warn(message: string): void;
  error(message: string, stack?: string): void;
  debug(message: string): void;
}
