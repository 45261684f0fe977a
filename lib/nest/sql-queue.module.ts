import { Logger, Module, type DynamicModule, type FactoryProvider, type Provider, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { DataSource } from 'typeorm';
import { InvalidOptionsError } from '../job/errors.js';
import { unknownKeys } from '../job/expectation.js';
import { sqliteDriverMisfit } from '../store/dialects/sqlite-driver.js';
import { sqlQueueEntities } from '../store/entities/entities.js';
import { dataSourcesAmong, dataSourceTokens } from './data-sources.js';
import { featureProviders, type FeatureQueue } from './feature-queues.js';
import type { OfInstance } from './metadata.js';
import { startEngine, type Engine } from './engine.js';
import { decoratedOptions } from './explorer.js';
import { SqlQueueLifecycle } from './lifecycle.js';
import { checkStaticOptions, type SqlQueueModuleOptions, type StaticOptions } from './module-options.js';
import {
  getAdminToken,
  getConsumerToken,
  getEngineToken,
  getOptionsToken,
  getProducerToken,
  getRunnerToken,
} from './tokens.js';
import { registerEntities } from './typeorm-entities.js';

export interface SqlQueueOptionsFactory {
  createSqlQueueOptions(): SqlQueueModuleOptions | Promise<SqlQueueModuleOptions>;
}

/** Where the options come from: one of `useFactory`, `useClass` and `useExisting`. What decides a token stays static. */
export interface SqlQueueAsyncOptions extends StaticOptions {
  useFactory?: FactoryProvider<SqlQueueModuleOptions>['useFactory'];
  useClass?: Type<SqlQueueOptionsFactory>;
  useExisting?: FactoryProvider['provide'];
  inject?: NonNullable<FactoryProvider['inject']>;
  extraProviders?: Provider[];
}

/** Its providers are for every module, and begin before and end after those of other modules. */
@Module({})
class SqlQueueCoreModule {}

/**
 * Turns the application's SQL database into a job queue.
 *
 * @example
 * ```ts
 * @Module({ imports: [TypeOrmModule.forRoot({ … autoLoadEntities: true }), SqlQueueModule.forRoot()] })
 * class AppModule {}
 * ```
 */
@Module({})
export class SqlQueueModule {
  /** With options at hand. All are optional. */
  static forRoot(options: SqlQueueModuleOptions & StaticOptions = {}): DynamicModule {
    const { name, dataSource, imports, isGlobal, prefix, ...rest } = options;
    return dynamicModule(definedOf({ name, dataSource, imports, isGlobal, prefix }), { useFactory: () => rest });
  }

  /** With options that other providers make, such as a ConfigService. */
  static forRootAsync(options: SqlQueueAsyncOptions): DynamicModule {
    const { name, dataSource, imports, isGlobal, prefix, ...source } = options;
    InvalidOptionsError.throwIfAny('SqlQueueModule.forRootAsync()', unknownKeys(source, ['imports', ...SOURCE]));
    return dynamicModule(definedOf({ name, dataSource, imports, isGlobal, prefix }), source);
  }

  /**
   * Provides queues for `@InjectQueue(name)` in the module that imports it: a name, a name with options of the queue, or an
   * array of both. The options count as those of `@QueueProcessor()`, so that they stand in one of the two places. Throws
   * InvalidOptionsError.
   *
   * @example
   * ```ts
   * SqlQueueModule.forFeature('email.send')
   * SqlQueueModule.forFeature(['email.send', { name: 'report.build', maxWaiting: 1_000 }])
   * ```
   */
  static forFeature(queues: FeatureQueue | readonly FeatureQueue[], of: OfInstance = {}): DynamicModule {
    const providers = featureProviders(queues, of);
    return { module: SqlQueueModule, providers, exports: providers };
  }
}

// Untyped, so that the compiler refuses it as well.
Object.defineProperty(SqlQueueModule, 'registerQueue', {
  value: () => {
    throw new InvalidOptionsError('SqlQueueModule.registerQueue()', [
      `there is no such method. Queues need no registration: decorate a handler with @QueueProcessor('name'), and inject a ` +
        `QueueProducer, or import SqlQueueModule.forFeature('name') for @InjectQueue('name')`,
    ]);
  },
});

type OptionsSource = Omit<SqlQueueAsyncOptions, keyof StaticOptions>;

const SOURCE: readonly (keyof OptionsSource)[] = ['useFactory', 'useClass', 'useExisting', 'inject', 'extraProviders'];

function dynamicModule(of: StaticOptions, source: OptionsSource): DynamicModule {
  checkStaticOptions(of);
  warnOfSqliteDriver();
  const { name, dataSource, imports = [], prefix, isGlobal = true } = of;
  const core: DynamicModule = {
    module: SqlQueueCoreModule,
    global: isGlobal,
    imports: [...imports, registerEntities(sqlQueueEntities(definedOf({ prefix })), dataSource)],
    providers: [
      ...(source.extraProviders ?? []),
      ...optionsProviders(getOptionsToken(name), source),
      ...engineProviders(of),
    ],
    exports: [
      getEngineToken(name),
      getProducerToken(name),
      getAdminToken(name),
      getConsumerToken(name),
      getRunnerToken(name),
    ],
  };
  // The work begins and ends in a module that is not global: after all providers are there, and before they go.
  return {
    module: SqlQueueModule,
    imports: [core, DiscoveryModule],
    providers: [lifecycleProvider(of)],
    exports: [core],
  };
}

/** In time for the application's own DataSource, which opens before the queue can refuse the driver. */
function warnOfSqliteDriver(): void {
  const misfit = sqliteDriverMisfit();
  if (misfit !== undefined) Logger.warn(misfit, 'SqlQueue');
}

function optionsProviders(
  token: string,
  { useFactory, useClass, useExisting, inject = [] }: OptionsSource,
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

function engineProviders(of: StaticOptions): Provider[] {
  const { name, dataSource } = of;
  const engine = getEngineToken(name);
  const tokens = typeof dataSource === 'object' ? [] : dataSourceTokens(dataSource);
  const part = (provide: FactoryProvider['provide'], useFactory: (engine: Engine) => unknown): Provider => ({
    ...{ provide, useFactory, inject: [engine] },
  });
  return [
    {
      provide: engine,
      useFactory: (
        options: SqlQueueModuleOptions,
        modules: ModulesContainer,
        ...resolved: (DataSource | undefined)[]
      ) => {
        const wrappers = wrappersOf(modules);
        const decorated = decoratedOptions(wrappers, new MetadataScanner(), name);
        return startEngine(options, of, resolved.find(canOpen), dataSourcesAmong(wrappers, dataSource), decorated);
      },
      inject: [getOptionsToken(name), ModulesContainer, ...tokens.map((token) => ({ token, optional: true }))],
    },
    part(getProducerToken(name), ({ producer }) => producer),
    part(getAdminToken(name), ({ admin }) => admin),
    part(getConsumerToken(name), ({ consumer }) => consumer),
    part(getRunnerToken(name), ({ runner }) => runner),
  ];
}

function lifecycleProvider(of: StaticOptions): Provider {
  const { name } = of;
  return {
    provide: `SqlQueue:${name ?? ''}:Lifecycle`,
    useFactory: (engine: Engine, discovery: DiscoveryService, moduleRef: ModuleRef) =>
      new SqlQueueLifecycle(engine, discovery, moduleRef, of),
    inject: [getEngineToken(name), DiscoveryService, ModuleRef],
  };
}

function canOpen(provided: Partial<DataSource> | undefined): boolean {
  return typeof provided?.createQueryRunner === 'function';
}

function wrappersOf(modules: ModulesContainer): InstanceWrapper[] {
  return [...modules.values()].flatMap(({ providers, controllers }) => [
    ...providers.values(),
    ...controllers.values(),
  ]);
}

function definedOf<T extends object>(options: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
