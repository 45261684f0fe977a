import { ApplicationConfig, ContextIdFactory, ExternalContextCreator, ModuleRef, type ContextId } from '@nestjs/core';
import type { ExternalExceptionsHandler } from '@nestjs/core/exceptions/external-exceptions-handler.js';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { NestContainer } from '@nestjs/core/injector/container.js';
import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';
import { isObservable, lastValueFrom } from 'rxjs';
import { HandlerExit } from '../worker/run/handler-actions.js';
import type { JobContext } from '../worker/run/job-context.js';
import type { SqlQueueModuleOptions } from './module-options.js';
import { jobParameters, PARAMETERS } from './parameters.js';

type Handler = (given: JobContext | JobContext[]) => unknown;

const PIPES = '__pipes__';
const ENHANCERS = ['__guards__', '__interceptors__', PIPES, '__exceptionFilters__'];

type Instance = Record<string, (...args: unknown[]) => unknown>;

/**
 * Turns a method of a provider into a handler with the guards, interceptors, pipes, filters and parameter decorators of
 * Nest. This file contains every use of Nest beyond its public API.
 */
export class HandlerCaller {
  readonly #container: NestContainer;
  readonly #creator: ExternalContextCreator;
  readonly #injector = new Injector();
  /** Global enhancers of request scope. Empty unless `enhancers` is `all`. */
  readonly #scopedEnhancers: InstanceWrapper[];

  constructor(
    moduleRef: ModuleRef,
    private readonly enhancers: SqlQueueModuleOptions['enhancers'] = 'local',
  ) {
    this.#container = (moduleRef as unknown as { container: NestContainer }).container;
    // Global enhancers are usually written for HTTP requests. An empty application configuration hides them, so that only
    // the enhancers on the class and the method run.
    const container = Object.create(this.#container, {
      applicationConfig: { value: new ApplicationConfig() },
    }) as NestContainer;
    this.#creator = ExternalContextCreator.fromContainer(enhancers === 'all' ? this.#container : container);
    this.#scopedEnhancers = enhancers === 'all' ? requestScopedEnhancers(this.#container.applicationConfig!) : [];
  }

  /**
   * The enhancers on the handler that Nest did not create and would silently skip. Nest creates enhancers for classes, but
   * not for values and results of factories.
   */
  missingEnhancers(wrapper: InstanceWrapper, method: string): string[] {
    const host = hostOf(wrapper);
    const ofMethod = (key: string) => (Reflect.getMetadata(key, host[method]!) ?? []) as unknown[];
    const ofClass = (key: string) => (Reflect.getMetadata(key, host.constructor) ?? []) as unknown[];
    const parameters = (Reflect.getMetadata(PARAMETERS, host.constructor, method) ?? {}) as Record<
      string,
      { pipes: [] }
    >;
    return (this.enhancers === 'none' ? [PIPES] : ENHANCERS)
      .flatMap((key) => [...ofClass(key), ...ofMethod(key)])
      .concat(Object.values(parameters).flatMap(({ pipes }) => pipes))
      .filter((enhancer) => typeof enhancer === 'function')
      .filter((enhancer) => !wrapper.host!.injectables.has(enhancer as never))
      .map(({ name }) => name);
  }

  /** Builds the handler once, or anew for each job if the provider or an enhancer has request scope. */
  createHandler(wrapper: InstanceWrapper, method: string): Handler {
    const creator = this.#creatorOf(wrapper);
    if (isSingleton(wrapper) && this.#scopedEnhancers.length === 0)
      return this.#create(creator, wrapper, hostOf(wrapper), method);
    return async (job) => {
      const contextId = this.#contextOf(wrapper, job);
      const instance = await this.#instanceIn(contextId, wrapper);
      const scoped = { getEnhancersMetadata: () => this.#scopedEnhancers } as InstanceWrapper;
      await this.#injector.loadEnhancersPerContext(scoped, contextId, wrapper);
      return this.#create(creator, wrapper, instance, method, contextId)(job);
    };
  }

  /** Calls a method without enhancers. Events use it, because they are no requests. */
  async call(wrapper: InstanceWrapper, method: string, argument: object): Promise<unknown> {
    const contextId = isSingleton(wrapper) ? undefined : this.#contextOf(wrapper, argument);
    const instance = contextId ? await this.#instanceIn(contextId, wrapper) : hostOf(wrapper);
    return instance[method]!(argument);
  }

  /** A creator for one handler. */
  #creatorOf(wrapper: InstanceWrapper): ExternalContextCreator {
    // Nest searches the module of a handler by its class. That finds no controllers, can find a wrong module, and silently
    // drops enhancers that are missing there. The wrapper knows the right module.
    const moduleKey = { value: () => wrapper.host!.token };
    // Nest 11 remembers the parameters of a handler by the name of its class, which another class can have.
    let parameters: unknown;
    const ownStorage = {
      get: () => parameters,
      set: (_: object, __: string, read: unknown) => void (parameters = read),
    };
    return Object.create(this.#creator, {
      getHostModuleKey: moduleKey,
      getContextModuleKey: moduleKey,
      handlerMetadataStorage: { value: ownStorage },
      transformToResult: { value: lastValue },
      externalErrorProxy: { value: { createProxy: withFilters } },
    }) as ExternalContextCreator;
  }

  #create(
    creator: ExternalContextCreator,
    wrapper: InstanceWrapper,
    instance: Instance,
    method: string,
    contextId?: ContextId,
  ): Handler {
    const run = this.enhancers !== 'none';
    return creator.create(
      instance,
      instance[method]!,
      method,
      PARAMETERS,
      jobParameters,
      contextId,
      wrapper.id,
      { guards: run, interceptors: run, filters: run },
      'sql-queue',
    ) as Handler;
  }

  #contextOf(wrapper: InstanceWrapper, request: object): ContextId {
    const contextId = ContextIdFactory.getByRequest(request as Record<string, never>);
    Object.defineProperty(request, REQUEST_CONTEXT_ID, {
      value: contextId,
      enumerable: false,
      configurable: true,
    });
    // In a durable tree, REQUEST is the payload of the context id strategy. Otherwise it is the job.
    const durable = wrapper.isDependencyTreeDurable() ? contextId.payload : undefined;
    this.#container.registerRequestProvider(durable ?? request, contextId);
    return contextId;
  }

  async #instanceIn(contextId: ContextId, wrapper: InstanceWrapper): Promise<Instance> {
    if (isSingleton(wrapper)) return hostOf(wrapper);
    const module = wrapper.host!;
    const collection = module.controllers.has(wrapper.token as never) ? module.controllers : module.providers;
    return this.#injector.loadPerContext(hostOf(wrapper), module, collection as never, contextId, wrapper);
  }
}

function isSingleton(wrapper: InstanceWrapper): boolean {
  return wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
}

function requestScopedEnhancers(application: ApplicationConfig): InstanceWrapper[] {
  return [
    ...application.getGlobalRequestGuards(),
    ...application.getGlobalRequestInterceptors(),
    ...application.getGlobalRequestPipes(),
    ...application.getGlobalRequestFilters(),
  ];
}

/** Like Nest, but an observable that completes without a value is a success, not an error. */
async function lastValue(result: unknown): Promise<unknown> {
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}

/**
 * The return value of a filter becomes the result of the job. If a filter returns nothing, the error stays, so that the
 * queue stores and emits it. Nest would only log it and treat the handler as successful.
 */
function withFilters(handler: Handler, filters: ExternalExceptionsHandler, type: string): Handler {
  return async (job) => {
    try {
      return await handler(job);
    } catch (error) {
      // Handlers end their job with this exception, for example to release it. It is no failure.
      if (error instanceof HandlerExit) throw error;
      const host = new ExecutionContextHost([job]);
      host.setType(type);
      const result = await lastValue(filters.invokeCustomFilters(error, host));
      if (result === undefined || result === null) throw error;
      return result;
    }
  };
}

/** The instance of the provider, or an object with its prototype if Nest creates one per job. */
function hostOf(wrapper: InstanceWrapper): Instance {
  return (wrapper.instance ?? Object.create((wrapper.metatype as { prototype: object }).prototype)) as Instance;
}
