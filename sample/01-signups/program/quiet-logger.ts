import { ConsoleLogger } from '@nestjs/common';

/** Nest's logger, from warnings up, without the stack of an error that ends the start: main.ts tells that in a line. */
export class QuietLogger extends ConsoleLogger {
  constructor() {
    super({ logLevels: ['fatal', 'error', 'warn'] });
  }

  override error(message: unknown, ...more: unknown[]): void {
    if (more.at(-1) !== 'ExceptionHandler') super.error(message, ...more);
  }
}
