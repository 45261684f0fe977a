import { ApplicationConfig, ContextIdFactory, ExternalContextCreator, ModuleRef, type ContextId } from '@nestjs/core';
import type { ExternalExceptionsHandler } from '@nestjs/core/exceptions/external-exceptions-handler.js';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { NestContainer } from '@nestjs/core/injector/container.js';
import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';
import { isObservable, lastValueFrom } from 'rxjs';
import { JobVerdict, type JobContext } from '../runtime/job-context.js';

/** A method, called with one job or with those of a batch. */
type Handler = (given: JobContext | JobContext[]) => unknown;

import { PARAMETERS } from './metadata.js';
import { jobParameters } from './parameters.js';

export type Enhancers = 'local' | 'all' | 'none';

const PIPES = '__pipes__';
const ENHANCERS = ['__guards__', '__interceptors__', PIPES, '__exceptionFilters__'];

type Instance = Record<string, (...args: unknown[]) => unknown>;

/**
 * Turns a provider's method into a handler that Nest's guards, interceptors, pipes, filters and parameter decorators work
 * on. All that this library takes from Nest beyond its public API stands in this file.
 */
export class HandlerCaller {
  readonly #container: NestContainer;
  readonly #creator: ExternalContextCreator;
  readonly #injector = new Injector();
  /** Application-wide guards and the like of request scope, where they run. */
  readonly #scoped: InstanceWrapper[];

  constructor(
    moduleRef: ModuleRef,
    private readonly enhancers: Enhancers,
  ) {
    this.#container = (moduleRef as unknown as { container: NestContainer }).container;
    // Application-wide guards and the like are made for HTTP requests. With an application's configuration that knows none,
    // only those on the class and the method are left.
    const container = Object.create(this.#container, {
      applicationConfig: { value: new ApplicationConfig() },
    }) as NestContainer;
    this.#creator = ExternalContextCreator.fromContainer(enhancers === 'all' ? this.#container : container);
    this.#scoped = enhancers === 'all' ? scopedOf(this.#container.applicationConfig!) : [];
  }

  /**
   * Guards and the like on the handler that Nest has not made and would leave out without a word: it looks for them on
   * classes, and not on what a value or a factory gives.
   */
  unmade(wrapper: InstanceWrapper, method: string): string[] {
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

  /** Built once, but where something is request-scoped, which is made anew for each job. */
  handler(wrapper: InstanceWrapper, method: string): Handler {
    if (isFixed(wrapper) && this.#scoped.length === 0) return this.#create(wrapper, hostOf(wrapper), method);
    return async (job) => {
      const contextId = this.#contextOf(wrapper, job);
      const instance = await this.#instanceIn(contextId, wrapper);
      const scoped = { getEnhancersMetadata: () => this.#scoped } as InstanceWrapper;
      await this.#injector.loadEnhancersPerContext(scoped, contextId, wrapper);
      return this.#create(wrapper, instance, method, contextId)(job);
    };
  }

  /** Calls a method as it is, for events: they are no requests. */
  async call(wrapper: InstanceWrapper, method: string, argument: object): Promise<unknown> {
    const contextId = isFixed(wrapper) ? undefined : this.#contextOf(wrapper, argument);
    const instance = contextId ? await this.#instanceIn(contextId, wrapper) : hostOf(wrapper);
    return instance[method]!(argument);
  }

  #create(wrapper: InstanceWrapper, instance: Instance, method: string, contextId?: ContextId): Handler {
    const run = this.enhancers !== 'none';
    // Nest looks for the handler's module among those that provide its class, which finds no controller and can find a
    // wrong one; and what it does not find there, it leaves out.
    const moduleKey = { value: () => wrapper.host!.token };
    const creator = Object.create(this.#creator, {
      getHostModuleKey: moduleKey,
      getContextModuleKey: moduleKey,
      transformToResult: { value: lastValue },
      externalErrorProxy: { value: { createProxy: filtered } },
    }) as ExternalContextCreator;
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
    // A durable tree's request is what its strategy says; any other's is the job.
    const durable = wrapper.isDependencyTreeDurable() ? contextId.payload : undefined;
    this.#container.registerRequestProvider(durable ?? request, contextId);
    return contextId;
  }

  async #instanceIn(contextId: ContextId, wrapper: InstanceWrapper): Promise<Instance> {
    if (isFixed(wrapper)) return hostOf(wrapper);
    const module = wrapper.host!;
    const collection = module.controllers.has(wrapper.token as never) ? module.controllers : module.providers;
    return this.#injector.loadPerContext(hostOf(wrapper), module, collection as never, contextId, wrapper);
  }
}

/** One instance for all jobs. */
function isFixed(wrapper: InstanceWrapper): boolean {
  return wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
}

function scopedOf(application: ApplicationConfig): InstanceWrapper[] {
  return [
    ...application.getGlobalRequestGuards(),
    ...application.getGlobalRequestInterceptors(),
    ...application.getGlobalRequestPipes(),
    ...application.getGlobalRequestFilters(),
  ];
}

/** What Nest does too, but an observable without a value is not an error: the work is done. */
async function lastValue(result: unknown): Promise<unknown> {
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}

/**
 * What a filter gives is the job's result; where it gives nothing, the error stays. Nest would log it and take the promise
 * of nothing for a result, but an error that was only reported is still one, to be stored and emitted.
 */
function filtered(handler: Handler, filters: ExternalExceptionsHandler, type: string): Handler {
  return async (job) => {
    try {
      return await handler(job);
    } catch (error) {
      // A job that was released or the like has not failed.
      if (error instanceof JobVerdict) throw error;
      const host = new ExecutionContextHost([job]);
      host.setType(type);
      const given = await lastValue(filters.invokeCustomFilters(error, host));
      if (given === undefined || given === null) throw error;
      return given;
    }
  };
}

/** The provider, or what stands for it where there is one for each job. */
function hostOf(wrapper: InstanceWrapper): Instance {
  return (wrapper.instance ?? Object.create((wrapper.metatype as { prototype: object }).prototype)) as Instance;
}
