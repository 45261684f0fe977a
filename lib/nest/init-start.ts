import { Inject, Module, type NestModule } from '@nestjs/common';

/** Whether Nest initializes the application: `signal` is aborted when it begins. */
export class InitStart {
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    this.#controller.abort();
  }
}

/**
 * Nest configures the middleware of all modules before it calls the first `onModuleInit()`. That of a module may take long,
 * and those of other global modules run before any of the queue.
 */
@Module({ providers: [InitStart], exports: [InitStart] })
export class InitStartModule implements NestModule {
  constructor(@Inject(InitStart) private readonly initStart: InitStart) {}

  configure(): void {
    this.initStart.begin();
  }
}
