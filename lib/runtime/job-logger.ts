/** What the library and handlers log through: Nest's Logger fits. */
export interface JobLogger {
  log(message: string): void;
  warn(message: string): void;
  error(message: string, stack?: string): void;
  debug(message: string): void;
}
