import { Injectable, SetMetadata } from '@nestjs/common';
import { JobContext, JobHandler, OnQueueEvent, QueueProcessor, QueueProducer, Schedule } from 'nestjs-sql-queue';
import { start } from './support/application.js';

/** Replaces the method, as decorators for tracing and caching do. */
function Timed(): MethodDecorator {
  return (_target, _name, descriptor) => {
    const replaced = descriptor as unknown as { value: (...args: unknown[]) => unknown };
    const method = replaced.value;
    replaced.value = function (...args: unknown[]) {
      return method.apply(this, args);
    };
  };
}

/** Like Timed, but it copies the metadata. */
function Careful(): MethodDecorator {
  return (target, name, descriptor) => {
    const original = (descriptor as { value?: object }).value!;
    void Timed()(target, name, descriptor);
    const { value } = descriptor as { value?: object };
    for (const key of Reflect.getMetadataKeys(original) as string[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), value!);
  };
}

describe('a decorated method', () => {
  it('that a decorator above has replaced is named in a warning, with each decorator of the library', async () => {
    @Injectable()
    class Reports {
      @Timed()
      @Schedule('nightly', { cron: '0 3 * * *' })
      @QueueProcessor('report.build')
      build() {}

      @Timed()
      @OnQueueEvent('dead')
      alert() {}
    }
    @QueueProcessor('mail')
    class Mails {
      handle() {}

      @Timed()
      @JobHandler('welcome')
      welcome() {}
    }

    const { log } = await start({ providers: [Reports, Mails] });

    const noEffect = (decorator: string) =>
      `${decorator} has no effect, because a decorator above it has replaced the method without its metadata. Move ` +
      `${decorator} to the top.`;
    expect(log.at('warn').sort()).toEqual([
      `Mails.welcome: ${noEffect(`@JobHandler('welcome')`)}`,
      `Reports.alert: ${noEffect(`@OnQueueEvent('dead')`)}`,
      `Reports.build: ${noEffect(`@QueueProcessor('report.build')`)}`,
      `Reports.build: ${noEffect(`@Schedule('nightly')`)}`,
    ]);
  });

  it('that a base class has lost is named with the class that a module provides', async () => {
    class Base {
      @Timed()
      @QueueProcessor('q')
      run() {}
    }
    @Injectable()
    class Derived extends Base {}

    const { log } = await start({ providers: [Derived] });

    expect(log.at('warn').join()).toContain(`Derived.run: @QueueProcessor('q') has no effect`);
  });

  it('runs without a warning if the other decorator is below, keeps the metadata, or replaces nothing', async () => {
    const ran: string[] = [];
    abstract class Base {
      @QueueProcessor('overridden')
      run() {
        ran.push('base');
      }

      @QueueProcessor('inherited')
      inherited(job: JobContext) {
        ran.push(job.queue);
      }
    }
    @Injectable()
    class Handlers extends Base {
      @QueueProcessor('below')
      @Timed()
      below(job: JobContext) {
        ran.push(job.queue);
      }

      @Careful()
      @QueueProcessor('careful')
      careful(job: JobContext) {
        ran.push(job.queue);
      }

      @SetMetadata('other', 1)
      @QueueProcessor('marked')
      marked(job: JobContext) {
        ran.push(job.queue);
      }

      /** Handles no queue: a subclass decides that by the override. */
      override run() {
        ran.push('override');
      }
    }
    // No module provides it.
    class Unprovided {
      @Timed()
      @QueueProcessor('unprovided')
      run() {}
    }
    void Unprovided;

    const { get, log, idle } = await start({ providers: [Handlers] });
    for (const queue of ['below', 'careful', 'marked', 'inherited']) await get(QueueProducer).enqueue(queue, 0);
    await idle();

    expect(ran.sort()).toEqual(['below', 'careful', 'inherited', 'marked']);
    expect(log.at('warn')).toEqual([]);
  });

  it('is rejected when its class is declared if Nest would not find it: a property or a static method', () => {
    const onProperty = () => {
      class Handlers {
        // @ts-expect-error properties are no methods
        @QueueProcessor('q')
        run = () => {};
      }
      return Handlers;
    };
    const onStatic = () => {
      class Handlers {
        @QueueProcessor('q')
        static run() {}
      }
      return Handlers;
    };

    expect(onProperty).toThrow(
      `Handlers.run: expected a method of the class below @QueueProcessor('q'), got a property`,
    );
    expect(onStatic).toThrow(
      `Handlers.run: expected a method of the class below @QueueProcessor('q'), got a static method`,
    );
  });
});
