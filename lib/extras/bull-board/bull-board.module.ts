import { Logger, Module, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModuleRef } from '@nestjs/core';
import type { IServerAdapter } from '@bull-board/api/typings/app';
import type { QueueAdmin } from '../../admin/queue-admin.js';
import { systemClock } from '../../common/clock.js';
import { Redactor } from '../dashboard/redactor.js';
import { findProvider } from '../../nest/find-provider.js';
import { getAdminToken, getSchedulesToken } from '../../nest/tokens.js';
import type { QueueSchedules } from '../../schedules/queue-schedules.js';
import { resolveBullBoardOptions, type BullBoardMiddleware, type BullBoardOptions } from './bull-board-options.js';
import type { ResolvedBullBoardOptions } from './bull-board-options.js';
import { CheckedRoutes } from './checked-routes.js';
import { loadBullBoard, type BullBoardApi } from './load-bull-board.js';
import { mount } from './mount.js';
import { queueAdapterClass, type QueueAdapter } from './queue-adapter.js';
import { QueueOverview } from './queue-overview.js';
import { RequestUser } from './request-user.js';

type ServerAdapter = IServerAdapter & { setBasePath(path: string): unknown };

/** Serves bull-board from the start of the application on. */
class BullBoardLifecycle implements OnModuleInit {
  readonly #user = new RequestUser();

  constructor(
    private readonly api: BullBoardApi,
    private readonly options: ResolvedBullBoardOptions,
    private readonly host: HttpAdapterHost,
    private readonly config: ApplicationConfig,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** Sends no statement, so that an application starts while its database is away. */
  onModuleInit(): void {
    const { route, middleware, user } = this.options;
    const path = '/' + [this.config.getGlobalPrefix(), route].map(trimSlashes).filter(Boolean).join('/');
    const identify: BullBoardMiddleware = (request, _response, next) => this.#user.run(user?.(request), next);
    mount(this.host.httpAdapter, this.#createServer(path), path, [...middleware, identify]);
  }

  #createServer(path: string): ServerAdapter {
    const { adapter, origins, uiConfig } = this.options;
    const server = new adapter() as ServerAdapter;
    server.setBasePath(path);
    const routes = new CheckedRoutes({
      ...{ adapters: this.#createAdapters(), origins },
      show: (queues) => board.replaceQueues(queues),
      logger: new Logger('SqlQueueBullBoard'),
    });
    const setApiRoutes = server.setApiRoutes.bind(server);
    server.setApiRoutes = (given) => setApiRoutes(routes.wrap(given));
    const board = this.api.createBullBoard({
      queues: [],
      serverAdapter: server,
      options: {
        uiConfig: { boardTitle: 'nestjs-sql-queue', hideRedisDetails: true, hideDocsLink: true, ...uiConfig },
      },
    });
    return server;
  }

  #findVerbs(): { admin: QueueAdmin; schedules: QueueSchedules } {
    const { instance } = this.options;
    const find = <T>(token: string | object) =>
      findProvider<T>(this.moduleRef, token, instance, 'SqlQueueBullBoardModule.forRoot()');
    return {
      admin: find(getAdminToken(instance)),
      schedules: find(getSchedulesToken(instance)),
    };
  }

  /** The function returns the adapters of the queues of the options or, without those, of all that exist now. */
  #createAdapters(): () => Promise<QueueAdapter[]> {
    const { queues, readOnly, redact } = this.options;
    const verbs = this.#findVerbs();
    const { admin, schedules } = verbs;
    const overview = new QueueOverview(admin, schedules, systemClock);
    const redactor = new Redactor(redact);
    const parts = { ...verbs, redactor, clock: systemClock, overview, user: this.#user };
    const Adapter = queueAdapterClass(this.api.BaseAdapter);
    return async () => {
      const names = queues ?? (await overview.queues()).map(({ queue }) => queue);
      return names.map((queue) => new Adapter(queue, parts, readOnly));
    };
  }
}

/**
 * The dashboard bull-board for the queues of an instance of SqlQueueModule. Guards of Nest do not apply to it:
 * `middleware` must check the rights of the caller. The own dashboard of the library is `nestjs-sql-queue/board`.
 *
 * @example
 * ```ts
 * SqlQueueBullBoardModule.forRoot({ route: 'admin/queues', adapter: ExpressAdapter, middleware: [requireAdmin] })
 * ```
 */
@Module({})
export class SqlQueueBullBoardModule {
  /** @throws InvalidOptionsError if an option is wrong; at boot if a package is missing or the adapter does not fit */
  static forRoot(given: BullBoardOptions): DynamicModule {
    const options = resolveBullBoardOptions(given);
    return {
      module: SqlQueueBullBoardModule,
      providers: [
        {
          provide: 'SqlQueueBullBoard',
          useFactory: async (host: HttpAdapterHost, config: ApplicationConfig, moduleRef: ModuleRef) =>
            new BullBoardLifecycle(await loadBullBoard(), options, host, config, moduleRef),
          inject: [HttpAdapterHost, ApplicationConfig, ModuleRef],
        },
      ],
    };
  }
}

function trimSlashes(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
