import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleDestroy,
  OnModuleInit,
} from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModuleRef } from '@nestjs/core';
import { InvalidOptionsError } from '../job/errors.js';
import { subscriptionsOf } from '../job/topics.js';
import { refuseFallback } from './choose-data-source.js';
import { dataSourcesAmong } from './data-sources.js';
import type { Engine } from './engine.js';
import { Explorer, type Found, type FoundHandler, type FoundListener } from './explorer.js';
import type { StaticOptions } from './module-options.js';
import type { QueueSettings } from './queue-settings.js';
import { loadedProcessors } from './loaded-processors.js';
import { HandlerCaller } from './handler-caller.js';
import { unworkedQueues } from './unworked-queues.js';
import { getQueueToken, instanceOfEngineToken } from './tokens.js';

/** Starts the work when the application has started, and ends it in two phases before the application's connections close. */
export class SqlQueueLifecycle
  implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  constructor(
    private readonly engine: Engine,
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
    private readonly given: StaticOptions,
  ) {}

  get #instance(): string | undefined {
    return this.given.name;
  }

  async onModuleInit(): Promise<void> {
    await this.#orCloseAll(() => {
      // Only now all factories have made what they provide.
      if (this.engine.isFallback) refuseFallback(this.given, dataSourcesAmong(this.discovery.getProviders()));
      this.#register(this.#explore());
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    const { options, runner, feed, eventsAnywhere } = this.engine;
    if (eventsAnywhere.hasListeners) await this.#orCloseAll(() => feed.start());
    if (options.worker === false) return;
    this.#warn();
    const isByHand = typeof options.worker === 'object' && options.worker.autoStart === false;
    await this.#orCloseAll(() => (isByHand ? runner.declare() : runner.start()));
  }

  async onModuleDestroy(): Promise<void> {
    await this.engine.runner.quiet();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.engine.end.stop();
  }

  // No SQL here: TypeORM closes its connections at this moment. Ours are only let go.
  async onApplicationShutdown(): Promise<void> {
    await this.engine.close();
  }

  /** Where it fails the application will not come up, and nobody will close what this or other instances have opened. */
  async #orCloseAll(act: () => void | Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const engines = this.discovery.getProviders().filter(({ token }) => instanceOfEngineToken(token) !== undefined);
      for (const { instance } of engines as { instance?: Engine }[]) {
        await instance?.runner.stop({ timeout: 0 });
        await instance?.close();
      }
      throw error;
    }
  }

  #warn(): void {
    const { options, handlers, settings, logger } = this.engine;
    const worked = handlers.queues;
    const prefix = getQueueToken('', this.#instance);
    const tokens = this.discovery.getProviders().map(({ token }) => String(token));
    const produced = tokens.filter((token) => token.startsWith(prefix)).map((token) => token.slice(prefix.length));
    const letters = worked.map((queue) => settings.of(queue).deadLetter).filter((queue) => queue !== false);
    const loaded = loadedProcessors(this.#instance);
    for (const line of unworkedQueues(options, { worked, used: [...produced, ...letters], loaded })) logger.warn(line);
  }

  #explore(): Found {
    const tokens = this.discovery.getProviders().map(({ token }) => token);
    const instances = tokens.map(instanceOfEngineToken).filter((name) => name !== undefined);
    const same = instances.filter((name) => name === (this.#instance ?? '')).length;
    if (same !== 1) throw new InvalidOptionsError('SqlQueueModule', [severalInstances(same, this.#instance)]);
    return new Explorer(this.discovery, new MetadataScanner(), this.#instance, new Set(instances)).explore();
  }

  #register({ handlers, listeners, options, subscriptions }: Found): void {
    const { engine } = this;
    const caller = new HandlerCaller(this.moduleRef, engine.options.enhancers ?? 'local');
    InvalidOptionsError.throwIfAny('Queue handlers', unmadeEnhancers(handlers, caller));
    const already = new Set(
      handlers.map(({ queue }) => queue).filter((queue) => engine.handlers.queues.includes(queue)),
    );
    InvalidOptionsError.throwIfAny(
      'Queue handlers',
      [...already].map(
        (queue) => `two handlers for queue "${queue}": a decorated one, and one of SqlQueueRunner.handle()`,
      ),
    );
    for (const [queue, given] of options) engine.settings.decorate(queue, given);
    for (const [queue, given] of subscriptions) engine.subscriptions.set(queue, subscriptionsOf(given));
    const worked = handlers.map(({ queue }) => queue);
    InvalidOptionsError.throwIfAny('Dead-letter queues', engine.settings.deadLetterProblems(worked));
    for (const { wrapper, method, title, queue, name, batch } of handlers) {
      engine.handlers.add(queue, name, { handle: caller.handler(wrapper, method), batch });
      const { concurrency, retry, leaseMs } = engine.settings.of(queue);
      const what = name === undefined ? queue : `${queue} (${name})`;
      const topics = engine.subscriptions.get(queue)?.map(({ topic }) => topic) ?? [];
      engine.logger.log(
        `${what} → ${title}: concurrency ${concurrency}${batch ? `, batches of ${batch}` : ''}, ${retry.attempts} attempts, ` +
          `lease ${leaseMs / 1_000} s${topics.length > 0 ? `, copies of ${topics.join(', ')}` : ''}`,
      );
    }
    InvalidOptionsError.throwIfAny(
      'Queue events',
      listeners.map((listener) => unrecorded(listener, engine.settings)),
    );
    for (const { wrapper, method, event, queue, from } of listeners) {
      const events = from === 'anywhere' ? engine.eventsAnywhere : engine.events;
      events.on(event, queue, (occurrence) => caller.call(wrapper, method, occurrence));
    }
  }
}

function severalInstances(seen: number, name: string | undefined): string {
  const which = name === undefined ? 'without a name' : `of the name "${name}"`;
  return (
    `expected one SqlQueueModule ${which}, got ${seen}. Import forRoot() once, in the root module (other modules see its providers, or ` +
    `import forFeature()). For a second queue with tables of its own: forRoot({ name: 'audit', prefix: 'audit_queue_' })`
  );
}

/** Who listens to what nobody records would wait for ever. */
function unrecorded({ title, queue, from }: FoundListener, settings: QueueSettings): string | undefined {
  const isRecorded = queue === undefined ? settings.someRecorded : settings.of(queue).events;
  if (from === 'here' || isRecorded) return undefined;
  const which = queue === undefined ? 'some queue' : `queue "${queue}"`;
  return `${title}: expected the option \`events: true\` for ${which}, got none: events from anywhere are recorded only with it`;
}

function unmadeEnhancers(handlers: readonly FoundHandler[], caller: HandlerCaller): (string | undefined)[] {
  return handlers.map(({ wrapper, method, title }) => {
    const names = [...new Set(caller.unmade(wrapper, method))].join(', ');
    if (names === '') return undefined;
    return (
      `${title}: ${names} would not run. Nest makes guards, interceptors, pipes and filters for classes it is given, not ` +
      `for what a value or a factory provides: provide the class itself, or give the decorators instances`
    );
  });
}
