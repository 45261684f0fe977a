import { Module, type DynamicModule } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { QueueAdmin } from '../../admin/queue-admin.js';
import type { QueueConsumer } from '../../consumer/queue-consumer.js';
import { defined } from '../../job/option-schema.js';
import { findProvider } from '../../nest/find-provider.js';
import { getAdminToken, getConsumerToken, getSchedulesToken } from '../../nest/tokens.js';
import type { QueueSchedules } from '../../schedules/queue-schedules.js';
import { Board } from './board.js';
import { boardController } from './board.controller.js';
import { pageFolder } from './page-folder.js';
import {
  checkAllOptions,
  checkAsyncOptions,
  resolveBoardOptions,
  type BoardAsyncOptions,
  type BoardOptions,
  type BoardStaticOptions,
} from './board-options.js';

/**
 * A dashboard for the queues of an instance of SqlQueueModule: pages for queues, jobs, people, schedules, flows and workers, and
 * the actions on them. It is closed by default: without `guards` or `can` the application does not start.
 *
 * @example
 * ```ts
 * SqlQueueBoardModule.forRoot({ path: 'ops/queues', guards: [AdminGuard] })
 * ```
 */
@Module({})
export class SqlQueueBoardModule {
  /** @throws InvalidOptionsError if an option is wrong, or if there are neither `guards` nor `can` */
  static forRoot(options: BoardOptions & BoardStaticOptions): DynamicModule {
    checkAllOptions(options);
    const { path, guards, imports, instance, ...others } = options;
    return dynamicModule({ ...defined({ path, guards, imports, instance }), useFactory: () => others });
  }

  /** Options from other providers. Those that decide the routes stand beside `useFactory`. */
  static forRootAsync(options: BoardAsyncOptions): DynamicModule {
    checkAsyncOptions(options);
    return dynamicModule(options);
  }
}

function dynamicModule(options: BoardAsyncOptions): DynamicModule {
  const { path = 'queues', guards = [], imports = [], instance, useFactory, inject = [] } = options;
  const [optionsToken, board] = ['SqlQueueBoard:Options', 'SqlQueueBoard:Board'];
  return {
    module: SqlQueueBoardModule,
    imports,
    controllers: [boardController(board, path.replace(/^\/|\/$/g, ''), guards)],
    providers: [
      { provide: optionsToken, useFactory, inject },
      {
        provide: board,
        useFactory: (given: BoardOptions, moduleRef: ModuleRef) => {
          // A bundle without the files stops the boot, not the first request.
          pageFolder();
          return new Board(() => findParts(moduleRef, instance), resolveBoardOptions(given, guards));
        },
        inject: [optionsToken, ModuleRef],
      },
    ],
  };
}

function findParts(moduleRef: ModuleRef, instance: string | undefined) {
  const find = <T>(token: string | object) =>
    findProvider<T>(moduleRef, token, instance, 'SqlQueueBoardModule.forRoot()');
  return {
    admin: find<QueueAdmin>(getAdminToken(instance)),
    consumer: find<QueueConsumer>(getConsumerToken(instance)),
    schedules: find<QueueSchedules>(getSchedulesToken(instance)),
  };
}
