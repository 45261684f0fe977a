import { Module, type DynamicModule, type FactoryProvider, type Provider, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { DataSource, EntitySchema } from 'typeorm';
import { InvalidOptionsError } from '../job/errors.js';
import { unknownKeys } from '../job/expectation.js';
import { defined } from '../job/option-schema.js';
import { sqlQueueEntities } from '../store/tables/entities.js';
import { dataSourcesAmong, dataSourceTokens } from './choose-data-source.js';
import { featureProviders, type FeatureQueue } from './feature-queues.js';
import type { InstanceOptions } from './decorators.js';
import { openModuleEngine, type ModuleEngine } from './module-engine.js';
import { ConfigurationCheck, isConfigured, setConfigured, unconfiguredError } from './configuration-check.js';
import { decoratedOptions } from './explorer.js';
import { warnOfSqliteDriver } from './sqlite-driver-warning.js';
import { InitStart, InitStartModule } from './init-start.js';
import { SqlQueueLifecycle } from './lifecycle.js';
import { checkStaticOptions, type SqlQueueModuleOptions, type StaticOptions } from './module-options.js';
import {
  getAdminToken,
  getConsumerToken,
  getEngineToken,
  getOptionsToken,
  getProducerToken,
  getRunnerToken,
  getSchedulesToken,
} from './tokens.js';

export interface SqlQueueOptionsFactory {
  createSqlQueueOptions(): SqlQueueModuleOptions | Promise<SqlQueueModuleOptions>;
}

/**
 * The source of the options: one of `useFactory`, `useClass` and `useExisting`. Options that decide an injection token or an
 * entity stay static.
 */
export interface SqlQueueAsyncOptions extends StaticOptions {
  useFactory?: FactoryProvider<SqlQueueModuleOptions>['useFactory'];
  useClass?: Type<SqlQueueOptionsFactory>;
  useExisting?: FactoryProvider['provide'];
  inject?: NonNullable<FactoryProvider['inject']>;
  extraProviders?: Provider[];
}

/** Global by default, so that Nest initializes its providers before those of other modules and destroys them after. */
@Module({})
class SqlQueueCoreModule {}

@Module({})
class EntitiesModule {}

/**
 * Turns the application's SQL database into a job queue.
 *
 * @example
 * ```ts
 * @Module({ imports: [TypeOrmModule.forRoot({ … autoLoadEntities: true }), SqlQueueModule.forRoot()] })
 * class AppModule {}
 * ```
 */
@Module({ providers: [ConfigurationCheck] })
export class SqlQueueModule {
  /** @internal Nest calls it for each import. */
  constructor() {
    // Without dependencies, so that it runs before Nest rejects a provider that injects a part of the queue.
    if (!isConfigured()) throw unconfiguredError();
  }

  /** Configures the queue with static options. All of them are optional. */
  static forRoot(options: SqlQueueModuleOptions & StaticOptions = {}): DynamicModule {
    const { name, dataSource, imports, isGlobal, prefix, ...rest } = options;
    return dynamicModule(defined({ name, dataSource, imports, isGlobal, prefix, useFactory: () => rest }));
  }

  /** Configures the queue with options from other providers, such as a ConfigService. */
  static forRootAsync(options: SqlQueueAsyncOptions): DynamicModule {
    return dynamicModule(options);
  }

  /**
   * Provides queues for `@InjectQueue(name)` in the module that imports it.
   *
   * @param queues a name, a name with the options of the queue, or an array of both. The options have the precedence of
   * those of `@QueueProcessor()`, so a queue may have them in one of the two places only.
   * @throws InvalidOptionsError if a name or an option is wrong.
   * @example
   * ```ts
   * SqlQueueModule.forFeature('email.send')
   * SqlQueueModule.forFeature(['email.send', { name: 'report.build', maxWaiting: 1_000 }])
   * ```
   */
  static forFeature(queues: FeatureQueue | readonly FeatureQueue[], of: InstanceOptions = {}): DynamicModule {
    const providers = featureProviders(queues, of);
    return { module: SqlQueueModule, providers, exports: providers };
  }
}

// Not a declared method, so that the compiler rejects calls of it, too.
Object.defineProperty(SqlQueueModule, 'registerQueue', {
  value: () => {
    throw new InvalidOptionsError('SqlQueueModule.registerQueue()', [
      `there is no such method. Queues need no registration: decorate a handler with @QueueProcessor('name'), and inject a ` +
        `QueueProducer, or import SqlQueueModule.forFeature('name') for @InjectQueue('name')`,
    ]);
  },
});

const ASYNC_OPTIONS = [
  'imports',
  'useFactory',
  'useClass',
  'useExisting',
  'inject',
  'extraProviders',
] as const satisfies (keyof SqlQueueAsyncOptions)[];

function dynamicModule(options: SqlQueueAsyncOptions): DynamicModule {
  const { name, dataSource, imports = [], isGlobal = true, prefix, ...source } = options;
  InvalidOptionsError.throwIfAny('SqlQueueModule.forRootAsync()', unknownKeys(source, ASYNC_OPTIONS));
  setConfigured();
  const of: StaticOptions = defined({ name, dataSource, isGlobal, prefix });
  checkStaticOptions(of);
  warnOfSqliteDriver();
  const parts = engineProviders(of);
  const core: DynamicModule = {
    module: SqlQueueCoreModule,
    global: isGlobal,
    imports: [...imports, registerEntities(sqlQueueEntities(defined({ prefix })), dataSource)],
    providers: [...(source.extraProviders ?? []), ...optionsProviders(getOptionsToken(name), source), ...parts],
    exports: parts.map(({ provide }) => provide),
  };
  // The lifecycle is in a module that is not global: it starts after all providers exist, and stops before they close.
  return {
    module: SqlQueueModule,
    imports: [core, DiscoveryModule, InitStartModule],
    providers: [
      {
        provide: `SqlQueue:${name ?? ''}:Lifecycle`,
        useFactory: (
          engine: ModuleEngine,
          discovery: DiscoveryService,
          moduleRef: ModuleRef,
          modules: ModulesContainer,
          initStart: InitStart,
        ) => new SqlQueueLifecycle(engine, discovery, moduleRef, of, modules, initStart),
        inject: [getEngineToken(name), DiscoveryService, ModuleRef, ModulesContainer, InitStart],
      },
    ],
    exports: [core],
  };
}

function optionsProviders(
  token: string,
  { useFactory, useClass, useExisting, inject = [] }: SqlQueueAsyncOptions,
): Provider[] {
  if (useFactory) return [{ provide: token, useFactory, inject }];
  const factory = useClass ?? useExisting;
  if (!factory)
    throw new TypeError(
      'SqlQueueModule.forRootAsync() expected useFactory, useClass or useExisting, got none of them.',
    );
  const fromFactory = {
    provide: token,
    useFactory: (source: SqlQueueOptionsFactory) => source.createSqlQueueOptions(),
    inject: [factory],
  };
  return useClass ? [useClass, fromFactory] : [fromFactory];
}

/** The providers that other modules can inject. */
function engineProviders(of: StaticOptions): FactoryProvider[] {
  const { name, dataSource } = of;
  const engine = getEngineToken(name);
  const tokens = typeof dataSource === 'object' ? [] : dataSourceTokens(dataSource);
  const part = (provide: FactoryProvider['provide'], useFactory: (engine: ModuleEngine) => unknown) => ({
    provide,
    useFactory,
    inject: [engine],
  });
  return [
    {
      provide: engine,
      useFactory: (
        options: SqlQueueModuleOptions,
        modules: ModulesContainer,
        ...resolved: (DataSource | undefined)[]
      ) => {
        const wrappers: InstanceWrapper[] = [...modules.values()].flatMap(({ providers, controllers }) => [
          ...providers.values(),
          ...controllers.values(),
        ]);
        const provided = resolved.find((one) => typeof one?.createQueryRunner === 'function');
        const found = dataSourcesAmong(wrappers, dataSource);
        return openModuleEngine(options, of, provided, found, decoratedOptions(wrappers, name));
      },
      inject: [getOptionsToken(name), ModulesContainer, ...tokens.map((token) => ({ token, optional: true }))],
    },
    part(getProducerToken(name), ({ producer }) => producer),
    part(getAdminToken(name), ({ admin }) => admin),
    part(getConsumerToken(name), ({ consumer }) => consumer),
    part(getRunnerToken(name), ({ runner }) => runner),
    part(getSchedulesToken(name), ({ schedules }) => schedules),
  ];
}

/**
 * Registers the entities with TypeOrmModule, so that `autoLoadEntities` finds them. It provides no repositories, because
 * the application may have no DataSource. It is asynchronous, because @nestjs/typeorm may not be installed.
 */
async function registerEntities(
  entities: readonly EntitySchema[],
  dataSource?: StaticOptions['dataSource'],
): Promise<DynamicModule> {
  // TypeOrmModule creates DataSources with a name only, so one with another token is not from TypeOrmModule.
  if (typeof dataSource === 'symbol' || typeof dataSource === 'function') return { module: EntitiesModule };
  const typeorm = await import('@nestjs/typeorm').catch(() => undefined);
  typeorm?.TypeOrmModule.forFeature([...entities], dataSource);
  return { module: EntitiesModule };
}
