import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
  OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService, ModuleRef, type ModulesContainer } from '@nestjs/core';
import { messageOf } from '../common/message-text.js';
import { InvalidOptionsError, SqlQueueError } from '../job/errors.js';
import { DEFAULT_JOB_NAME } from '../job/identifiers.js';
import { subscriptionsOf } from '../job/topics.js';
import { dataSourcesAmong, rejectFallback } from './choose-data-source.js';
import { HybridWatch } from './hybrid-watch.js';
import type { InitStart } from './init-start.js';
import type { ModuleEngine } from './module-engine.js';
import {
  Explorer,
  type ExplorerResult,
  type FoundHandler,
  type FoundListener,
  type FoundSchedule,
} from './explorer.js';
import type { StaticOptions } from './module-options.js';
import type { QueueSettings } from '../engine/queue-settings.js';
import { buildSchedule } from '../schedules/build-schedule.js';
import { HandlerCaller } from './handler-caller.js';
import { handlerLines } from './handler-log.js';
import { recordProvided } from './loaded-classes.js';
import { unprovidedListeners, unprovidedProcessors, unprovidedWarning, unworkedQueues } from './unworked-queues.js';
import { instanceOfEngineToken, queueOfToken } from './tokens.js';

/** Starts the worker after the application has started, and stops it before the connections of the application close. */
export class SqlQueueLifecycle
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  readonly #hybridWatch: HybridWatch | undefined;
  #initialized: Promise<void> | undefined;
  #bootstrapped: Promise<void> | undefined;

  constructor(
    private readonly engine: ModuleEngine,
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
    private readonly given: StaticOptions,
    modules: ModulesContainer,
    initStart: InitStart,
  ) {
    if (engine.options.worker !== false)
      this.#hybridWatch = new HybridWatch(modules, initStart.signal, () => void this.#startUninitialized());
  }

  /** Once, although a hybrid application may be initialized after its worker has started. */
  onModuleInit(): Promise<void> {
    this.#hybridWatch?.stop();
    return (this.#initialized ??= this.#initialize());
  }

  onApplicationBootstrap(): Promise<void> {
    return (this.#bootstrapped ??= this.#bootstrap());
  }

  async #initialize(): Promise<void> {
    await this.#closeAllOnError(async () => {
      // Results of factories are complete only now, so the search for a DataSource runs once more.
      if (this.engine.isFallback) rejectFallback(this.given, dataSourcesAmong(this.discovery.getProviders()));
      const found = this.#explore();
      this.#register(found);
      await this.#addSchedules(found.schedules);
    });
  }

  async #bootstrap(): Promise<void> {
    const { lateStores, logger } = this.engine;
    if (!lateStores?.startLater(() => this.#start())) return this.#start();
    logger.log(
      'The queue waits until the application initializes its DataSource (`manualInitialization`). Until then no job runs, and ' +
        'calls reject with StoreUnavailableError.',
    );
  }

  async #start(): Promise<void> {
    const { options, runner, feed, eventsAnywhere } = this.engine;
    if (eventsAnywhere.hasAnyListener) await this.#closeAllOnError(() => feed.start());
    if (options.worker === false) return;
    this.#warnOfUnworkedQueues();
    await this.#closeAllOnError(() => this.#warnOfUnprovidedClasses());
    const startsManually = typeof options.worker === 'object' && options.worker.autoStart === false;
    await this.#closeAllOnError(() => (startsManually ? runner.declare() : runner.start()));
  }

  /** The application handles messages, so its jobs run too. */
  async #startUninitialized(): Promise<void> {
    const { logger } = this.engine;
    logger.warn(
      'The microservices of this application are connected, but the application was not initialized: startAllMicroservices() ' +
        'calls no onModuleInit() and no onApplicationBootstrap(). The worker starts without them. Call `await app.init()` or ' +
        '`await app.listen(port)`.',
    );
    try {
      await this.onModuleInit();
      await this.onApplicationBootstrap();
    } catch (error) {
      logger.error(`The worker cannot start: ${messageOf(error)}`, (error as Partial<Error> | null)?.stack);
    }
  }

  async onModuleDestroy(): Promise<void> {
    this.#hybridWatch?.stop();
    await this.engine.runner.quiet();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.engine.shutdown.stop();
  }

  // TypeORM closes its connections at the same time. If statements fail, other processes find the flows and waits of calls that
  // came after `stop()`, and the metrics of those calls are lost.
  async onApplicationShutdown(): Promise<void> {
    await this.engine.shutdown.close();
  }

  /** If a boot step fails, Nest calls no shutdown hooks. Close the engines of all instances, or they keep the process alive. */
  async #closeAllOnError(act: () => void | Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const engines = this.discovery.getProviders().filter(({ token }) => instanceOfEngineToken(token) !== undefined);
      for (const { instance } of engines as { instance?: ModuleEngine }[]) {
        await instance?.runner.stop({ timeout: 0 });
        await instance?.shutdown.close();
      }
      throw error;
    }
  }

  #warnOfUnworkedQueues(): void {
    const { options, handlers, settings, logger } = this.engine;
    const { name } = this.given;
    const worked = handlers.queues;
    const queues = this.discovery.getProviders().map(({ token }) => queueOfToken(token, name));
    const produced = queues.filter((queue) => queue !== undefined);
    const deadLetters = worked.map((queue) => settings.of(queue).deadLetter).filter((queue) => queue !== false);
    for (const line of unworkedQueues(options, worked, [...produced, ...deadLetters], name)) logger.warn(line);
  }

  /** A class whose queue a worker of another process serves, or has served, may belong to that process. */
  async #warnOfUnprovidedClasses(): Promise<void> {
    const { options, handlers, stores, unserved, logger } = this.engine;
    const { name } = this.given;
    recordProvided([...this.discovery.getProviders(), ...this.discovery.getControllers()]);
    const missing = unprovidedProcessors(options, handlers.queues, name);
    const lines = unprovidedListeners(options, name);
    if (missing.size > 0) {
      const { known, unserved: without } = await stores.queues.readService([...missing.keys()]);
      for (const queue of without) {
        if (known.includes(queue)) unserved.expect(queue, `no module here provides ${missing.get(queue)!}`);
        else lines.push(`${missing.get(queue)!} (queue "${queue}")`);
      }
    }
    if (lines.length > 0) logger.warn(unprovidedWarning(lines));
  }

  #explore(): ExplorerResult {
    const tokens = this.discovery.getProviders().map(({ token }) => token);
    const instances = tokens.map(instanceOfEngineToken).filter((name) => name !== undefined);
    const count = instances.filter((name) => name === (this.given.name ?? '')).length;
    if (count !== 1) throw new InvalidOptionsError('SqlQueueModule', [instanceCountProblem(count, this.given.name)]);
    return new Explorer(this.discovery, this.given.name, new Set(instances)).explore();
  }

  #register({ handlers, listeners, options, subscriptions, replaced }: ExplorerResult): void {
    const { engine } = this;
    for (const line of replaced) engine.logger.warn(line);
    const caller = new HandlerCaller(this.moduleRef, engine.options.enhancers);
    InvalidOptionsError.throwIfAny('Queue handlers', missingEnhancerProblems(handlers, caller));
    const queues = new Set(handlers.map(({ queue }) => queue));
    const duplicates = [...queues]
      .filter((queue) => engine.handlers.queues.includes(queue))
      .map((queue) => `two handlers for queue "${queue}": a decorated one, and one of SqlQueueRunner.handle()`);
    InvalidOptionsError.throwIfAny('Queue handlers', duplicates);
    for (const [queue, given] of options) engine.settings.setDecoratedOptions(queue, given);
    for (const [queue, given] of subscriptions) engine.subscriptions.set(queue, subscriptionsOf(given));
    InvalidOptionsError.throwIfAny('Dead-letter queues', engine.settings.deadLetterProblems([...queues]));
    for (const { wrapper, method, queue, name, batch } of handlers) {
      engine.handlers.add(queue, name, { handle: caller.createHandler(wrapper, method), batch });
    }
    for (const line of handlerLines(handlers, engine)) engine.logger.log(line);
    const missingEvents = listeners.map((listener) => missingEventsProblem(listener, engine.settings));
    InvalidOptionsError.throwIfAny('Queue events', missingEvents);
    for (const { wrapper, method, event, queue, from } of listeners) {
      const events = from === 'anywhere' ? engine.eventsAnywhere : engine.events;
      events.on(event, queue, (occurrence) => caller.call(wrapper, method, occurrence));
    }
  }

  async #addSchedules(schedules: readonly FoundSchedule[]): Promise<void> {
    const { declaredSchedules, settings } = this.engine;
    const problems: string[] = [];
    for (const { name, queue, jobName = DEFAULT_JOB_NAME, options, title } of schedules) {
      try {
        const schedule = await buildSchedule(name, { queue, name: jobName }, options, (of) => settings.of(of));
        declaredSchedules.set(name, schedule);
      } catch (error) {
        if (!(error instanceof SqlQueueError)) throw error;
        problems.push(`${title}: ${error.message}`);
      }
    }
    InvalidOptionsError.throwIfAny('Schedules', problems);
  }
}

function instanceCountProblem(count: number, name: string | undefined): string {
  const which = name === undefined ? 'without a name' : `of the name "${name}"`;
  return (
    `expected one SqlQueueModule ${which}, got ${count}. Import forRoot() once, in the root module (other modules see its providers, or ` +
    `import forFeature()). For a second queue with tables of its own: forRoot({ name: 'audit', prefix: 'audit_queue_' })`
  );
}

/** A listener for events that no queue stores would never be called. */
function missingEventsProblem({ title, queue, from }: FoundListener, settings: QueueSettings): string | undefined {
  const isStored = queue === undefined ? settings.hasQueueWithEvents : settings.of(queue).events;
  if (from === 'here' || isStored) return undefined;
  const which = queue === undefined ? 'some queue' : `queue "${queue}"`;
  return `${title}: expected the option \`events: true\` for ${which}, got none: events from anywhere are stored only with it`;
}

function missingEnhancerProblems(handlers: readonly FoundHandler[], caller: HandlerCaller): (string | undefined)[] {
  return handlers.map(({ wrapper, method, title }) => {
    const names = [...new Set(caller.missingEnhancers(wrapper, method))].join(', ');
    if (names === '') return undefined;
    return (
      `${title}: ${names} would not run. Nest creates guards, interceptors, pipes and filters only for providers that are ` +
      `classes, not for values and factories. Provide the class itself, or give the decorators instances`
    );
  });
}
