import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { InvalidOptionsError } from '../job/errors.js';
import { instanceOfEngineToken } from './tokens.js';

const CONFIGURED = Symbol.for('nestjs-sql-queue:configured');

// Global, because all copies of the package share it.
const shared = globalThis as { [CONFIGURED]?: true };

/** Whether this process has called forRoot() or forRootAsync(), for any application. */
export function isConfigured(): boolean {
  return shared[CONFIGURED] === true;
}

export function setConfigured(): void {
  shared[CONFIGURED] = true;
}

export function unconfiguredError(): InvalidOptionsError {
  return new InvalidOptionsError('SqlQueueModule', [
    'expected SqlQueueModule.forRoot() in the application, got none: `imports: [SqlQueueModule]` configures no queue. Write ' +
      '`imports: [SqlQueueModule.forRoot()]` in the root module',
  ]);
}

/** Stops the boot of an application that imports SqlQueueModule without forRoot(), in a process that has called it. */
@Injectable()
export class ConfigurationCheck implements OnModuleInit {
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {}

  onModuleInit(): void {
    const tokens = [...this.modules.values()].flatMap(({ providers }) => [...providers.keys()]);
    if (!tokens.some((token) => instanceOfEngineToken(token) !== undefined)) throw unconfiguredError();
  }
}
