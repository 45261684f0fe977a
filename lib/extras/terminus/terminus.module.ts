import { Module, type DynamicModule } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { InvalidOptionsError } from '../../job/errors.js';
import { unknownKeys } from '../../job/expectation.js';
import type { InstanceOptions } from '../../nest/decorators.js';
import { SqlQueueHealthIndicator } from './health-indicator.js';
import { loadTerminus } from './load-terminus.js';

/** The token of a SqlQueueHealthIndicator: the class, or a string for named instances of SqlQueueModule. */
export function getHealthIndicatorToken(instance?: string): string | typeof SqlQueueHealthIndicator {
  return instance ? `SqlQueue:${instance}:HealthIndicator` : SqlQueueHealthIndicator;
}

/**
 * Provides the SqlQueueHealthIndicator to the module that imports it.
 *
 * @example
 * ```ts
 * @Module({ imports: [TerminusModule, SqlQueueTerminusModule.forRoot()], controllers: [HealthController] })
 * class HealthModule {}
 * ```
 */
@Module({})
export class SqlQueueTerminusModule {
  /**
   * @param of `instance` names an instance of SqlQueueModule; default: the one without a name
   * @throws InvalidOptionsError at boot if @nestjs/terminus is not installed, or if there is no such instance
   */
  static forRoot({ instance, ...unknown }: InstanceOptions = {}): DynamicModule {
    InvalidOptionsError.throwIfAny('SqlQueueTerminusModule.forRoot()', unknownKeys(unknown, ['instance']));
    const token = getHealthIndicatorToken(instance);
    return {
      module: SqlQueueTerminusModule,
      providers: [
        {
          provide: token,
          useFactory: async (moduleRef: ModuleRef) =>
            new SqlQueueHealthIndicator(moduleRef, await loadTerminus(), instance),
          inject: [ModuleRef],
        },
      ],
      exports: [token],
    };
  }
}
