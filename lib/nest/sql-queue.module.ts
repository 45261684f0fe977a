import {
  Module,
  type DynamicModule,
  type FactoryProvider,
  type ModuleMetadata,
  type Provider,
  type Type,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { DataSource } from 'typeorm';
import { InvalidOptionsError } from '../job/errors.js';
import { unknownKeys } from '../job/expectation.js';
import { checkQueueName } from '../job/job-names.js';
import { Queue } from '../producer/queue.js';
import type { QueueProducer } from '../producer/queue-producer.js';
import { sqlQueueEntities } from '../store/entities/entities.js';
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
  getQueueToken,
  getRunnerToken,
} from './tokens.js';
import { registerEntities } from './typeorm-entities.js';

export interface SqlQueueOptionsFactory {
  createSqlQueueOptions(): SqlQueueModuleOptions | Promise<SqlQueueModuleOptions>;
}

/** Where the options come from: one of `useFactory`, `useClass` and `useExisting`. What decides a token stays static. */
export interface SqlQueueAsyncOptions extends StaticOptions, Pick<ModuleMetadata, 'imports'> {
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
    const { name, dataSource, isGlobal, prefix, ...rest } = options;
    return dynamicModule(definedOf({ name, dataSource, isGlobal, prefix }), { useFactory: () => rest });
  }

  /** With options that other providers make, such as a ConfigService. */
  static forRootAsync(options: SqlQueueAsyncOptions): DynamicModule {
    const { name, dataSource, isGlobal, prefix, ...source } = options;
    InvalidOptionsError.throwIfAny('SqlQueueModule.forRootAsync()', unknownKeys(source, SOURCE));
    return dynamicModule(definedOf({ name, dataSource, isGlobal, prefix }), source);
  }

  /** Provides the queues for `@InjectQueue(name)` in the module that imports it. */
  static forFeature(queues: string[], { instance }: { instance?: string } = {}): DynamicModule {
    const providers = queues.map((queue): FactoryProvider => {
      checkQueueName(queue);
      return {
        provide: getQueueToken(queue, instance),
        useFactory: (moduleRef: ModuleRef, producer?: QueueProducer) =>
          new Queue(queue, producer ?? producerOutOfSight(moduleRef, instance)),
        inject: [ModuleRef, { token: getProducerToken(instance), optional: true }],
      };
    });
    return { module: SqlQueueModule, providers, exports: providers };
  }
}

/** Looked up by hand where the module is not global, and only when needed: it may not be there before the boot is over. */
function producerOutOfSight(
  moduleRef: ModuleRef,
  instance: string | undefined,
): Pick<QueueProducer, 'enqueue' | 'enqueueMany' | 'request'> {
  const find = () => moduleRef.get<QueueProducer>(getProducerToken(instance), { strict: false });
  try {
    find();
  } catch {
    const missing = `SqlQueueModule.forRoot(${instance ? `{ name: '${instance}' }` : ''})`;
    throw new InvalidOptionsError('SqlQueueModule.forFeature()', [`expected ${missing} in the application, got none`]);
  }
  return {
    enqueue: (queue, payload, options) => find().enqueue(queue, payload, options),
    enqueueMany: (queue, jobs, options) => find().enqueueMany(queue, jobs, options),
    request: (queue, payload, options) => find().request(queue, payload, options),
  };
}

type OptionsSource = Omit<SqlQueueAsyncOptions, keyof StaticOptions>;

const SOURCE: readonly (keyof OptionsSource)[] = [
  'imports',
  'useFactory',
  'useClass',
  'useExisting',
  'inject',
  'extraProviders',
];

function dynamicModule(of: StaticOptions, source: OptionsSource): DynamicModule {
  checkStaticOptions(of);
  const { name, dataSource, prefix, isGlobal = true } = of;
  const core: DynamicModule = {
    module: SqlQueueCoreModule,
    global: isGlobal,
    imports: [...(source.imports ?? []), registerEntities(sqlQueueEntities(definedOf({ prefix })), dataSource)],
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
    providers: [lifecycleProvider(name)],
    exports: [core],
  };
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
  const token = dataSourceToken(dataSource);
  const part = (provide: FactoryProvider['provide'], useFactory: (engine: Engine) => unknown): Provider => ({
    ...{ provide, useFactory, inject: [engine] },
  });
  return [
    {
      provide: engine,
      useFactory: (options: SqlQueueModuleOptions, modules: ModulesContainer, found?: DataSource) => {
        // Optional also means undefined where the provider is there and could not connect: that is no reason to put the
        // jobs somewhere else.
        const isNeeded = !found && !options?.connection && typeof dataSource !== 'object';
        if (isNeeded && isProvided(modules, token))
          throw new Error(
            `The application's DataSource could not be connected, or is not visible to SqlQueueModule (expected it in a ` +
              `global module, as TypeOrmModule.forRoot() is, or in the option \`dataSource\`).`,
          );
        return startEngine(options, of, found, decoratedOptions(wrappersOf(modules), new MetadataScanner(), name));
      },
      inject: [getOptionsToken(name), ModulesContainer, { token, optional: true }],
    },
    part(getProducerToken(name), ({ producer }) => producer),
    part(getAdminToken(name), ({ admin }) => admin),
    part(getConsumerToken(name), ({ consumer }) => consumer),
    part(getRunnerToken(name), ({ runner }) => runner),
  ];
}

function lifecycleProvider(name: string | undefined): Provider {
  return {
    provide: `SqlQueue:${name ?? ''}:Lifecycle`,
    useFactory: (engine: Engine, discovery: DiscoveryService, moduleRef: ModuleRef) =>
      new SqlQueueLifecycle(engine, discovery, moduleRef, name),
    inject: [getEngineToken(name), DiscoveryService, ModuleRef],
  };
}

/** The token under which @nestjs/typeorm provides a DataSource, computed here since it may not be installed. */
function dataSourceToken(dataSource: StaticOptions['dataSource']): FactoryProvider['provide'] {
  return typeof dataSource === 'string' && dataSource !== 'default' ? `${dataSource}DataSource` : DataSource;
}

function isProvided(modules: ModulesContainer, token: FactoryProvider['provide']): boolean {
  return [...modules.values()].some(({ providers }) => providers.has(token));
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
