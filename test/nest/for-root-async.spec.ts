import { Injectable, Module } from '@nestjs/common';
import {
  JobContext,
  QueueProcessor,
  QueueProducer,
  SqlQueueModule,
  type SqlQueueModuleOptions,
  type SqlQueueOptionsFactory,
} from 'nestjs-sql-queue';
import { compile, IN_MEMORY, FAST_POLL, startErrorOf } from './support/application.js';

@Injectable()
class Config {
  readonly attempts: number = 3;
}

@Module({ providers: [Config], exports: [Config] })
class ConfigModule {}

@Injectable()
class Options implements SqlQueueOptionsFactory {
  constructor(private readonly config: Config) {}

  createSqlQueueOptions(): SqlQueueModuleOptions {
    return optionsWith(this.config.attempts);
  }
}

@Module({ imports: [ConfigModule], providers: [Options], exports: [Options] })
class OptionsModule {}

class Handlers {
  @QueueProcessor('q')
  handle(job: JobContext) {
    return job.maxAttempts;
  }
}

function optionsWith(attempts: number): SqlQueueModuleOptions {
  return { connection: IN_MEMORY, defaults: { retry: attempts }, worker: FAST_POLL };
}

describe('SqlQueueModule.forRootAsync', () => {
  it.each(
    Object.entries({
      'a factory': { useFactory: () => optionsWith(3) },
      'a promise of a factory': { useFactory: () => Promise.resolve(optionsWith(3)) },
      'a factory with imports and inject': {
        imports: [ConfigModule],
        inject: [Config],
        useFactory: ({ attempts }: Config) => optionsWith(attempts),
      },
      'a factory with a provider of its own': {
        extraProviders: [Config],
        inject: [Config],
        useFactory: ({ attempts }: Config) => optionsWith(attempts),
      },
      'a factory with a missing optional dependency': {
        inject: [{ token: 'nowhere', optional: true }],
        useFactory: (missing?: number) => optionsWith(missing ?? 3),
      },
      'a class that it provides itself': { imports: [ConfigModule], useClass: Options },
      'a provider that exists': { imports: [OptionsModule], useExisting: Options },
    }),
  )('accepts options from %s', async (_source, source) => {
    const { app, get, ended } = await compile({
      imports: [SqlQueueModule.forRootAsync(source)],
      providers: [Handlers],
    });
    await app.init();

    const job = await get(QueueProducer).enqueue('q', null);

    expect(await ended(job)).toMatchObject({ state: 'completed', result: 3 });
  });

  it('creates no second instance of an existing provider', async () => {
    let made = 0;
    @Injectable()
    class Counted extends Options {
      constructor(config: Config) {
        super(config);
        made++;
      }
    }
    @Module({ imports: [ConfigModule], providers: [Counted], exports: [Counted] })
    class CountedModule {}

    await compile({
      imports: [SqlQueueModule.forRootAsync({ imports: [CountedModule], useExisting: Counted }), CountedModule],
    });

    expect(made).toBe(1);
  });

  it('rejects a call without a source of options', () => {
    expect(() => SqlQueueModule.forRootAsync({})).toThrow(
      'SqlQueueModule.forRootAsync() expected useFactory, useClass or useExisting, got none of them.',
    );
  });

  it('rejects options that belong in the result of the factory', () => {
    const options = { useFactory: () => optionsWith(3), queues: { q: { concurrency: 1 } }, usefactory: 1 };

    expect(() => SqlQueueModule.forRootAsync(options)).toThrow(
      expect.objectContaining({
        problems: [
          expect.stringMatching(/^unknown option "queues" \(known: imports, useFactory,/),
          'unknown option "usefactory", did you mean "useFactory"?',
        ],
      }),
    );
  });

  it('stops the boot with the error of the factory', async () => {
    const error = await startErrorOf({
      imports: [SqlQueueModule.forRootAsync({ useFactory: () => Promise.reject(new Error('no configuration')) })],
    });

    expect(error.message).toBe('no configuration');
  });

  it.each([undefined, null, 'sqlite'])('stops the boot if the factory returns %o', async (given) => {
    const error = await startErrorOf({
      imports: [SqlQueueModule.forRootAsync({ useFactory: () => given as never })],
    });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain('expected an object, got ');
  });

  it('rejects an option of the factory that must be set beside it', async () => {
    const error = await startErrorOf({
      imports: [SqlQueueModule.forRootAsync({ useFactory: () => ({ prefix: 'my_' }) as never })],
    });

    expect(error.message).toContain('"prefix" decides a token or a table and has to stand beside useFactory');
  });
});
