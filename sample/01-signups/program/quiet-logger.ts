import { ConsoleLogger } from '@nestjs/common';

/** Nest's logger for warnings and errors. It omits errors that end the start, because main.ts prints their messages. */
export class QuietLogger extends ConsoleLogger {
  constructor() {
    super({ logLevels: ['fatal', 'error', 'warn'] });
  }

  override error(message: unknown, ...more: unknown[]): void {
    if (more.at(-1) !== 'ExceptionHandler') super.error(message, ...more);
  }
}
