import {
  createParamDecorator,
  Injectable,
  ParseIntPipe,
  UsePipes,
  type ArgumentMetadata,
  type ExecutionContext,
  type PipeTransform,
} from '@nestjs/common';
import { JobContext, JobCtx, JobHeader, JobPayload, JobSignal, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { start } from './support/application.js';

describe('the parameters of a handler', () => {
  it('are its job if none is decorated', async () => {
    let got: unknown[] = [];
    class Handlers {
      @QueueProcessor('q')
      handle(...given: unknown[]) {
        got = given;
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('q', { a: 1 }, { headers: { trace: 't' }, name: 'n' });
    await ended(job);

    expect(got).toHaveLength(1);
    expect(got[0]).toBeInstanceOf(JobContext);
    expect(got[0]).toMatchObject({
      ...{ id: job.id, queue: 'q', name: 'n', payload: { a: 1 }, headers: { trace: 't' } },
      ...{ attempt: 1, maxAttempts: 1, isLastAttempt: true },
    });
  });

  it('follow their decorators in any order', async () => {
    let got: unknown[] = [];
    class Handlers {
      @QueueProcessor('q')
      handle(
        @JobSignal() signal: AbortSignal,
        @JobHeader('trace') trace: string,
        @JobHeader('missing') missing: string | undefined,
        @JobCtx() job: JobContext,
        undecorated: unknown,
        @JobHeader() headers: Record<string, string>,
        @JobPayload() payload: unknown,
      ) {
        got = [
          signal instanceof AbortSignal,
          trace,
          missing,
          job.id,
          undecorated,
          headers,
          payload,
          job.signal === signal,
        ];
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('q', [1, 2], { headers: { trace: 't', user: 'u' } });

    expect(await ended(job)).toMatchObject({ state: 'completed' });
    expect(got).toEqual([true, 't', undefined, job.id, undefined, { trace: 't', user: 'u' }, [1, 2], true]);
  });

  // Nest 11 remembers them by the names of the class and the method.
  it.each(['decorated', 'plain'] as const)(
    'are those of its class, if another has its name (%s first)',
    async (first) => {
      const decorated = () => {
        class Handlers {
          @QueueProcessor('decorated')
          handle(@JobPayload() payload: unknown) {
            return payload;
          }
        }
        return Handlers;
      };
      const plain = () => {
        class Handlers {
          @QueueProcessor('plain')
          handle(job: JobContext) {
            return [job instanceof JobContext, job.payload];
          }
        }
        return Handlers;
      };
      const providers = [decorated(), plain()];
      const { get, ended } = await start({ providers: first === 'decorated' ? providers : providers.reverse() });

      const jobs = await Promise.all(['decorated', 'plain'].map((queue) => get(QueueProducer).enqueue(queue, 7)));

      expect(await Promise.all(jobs.map(ended))).toMatchObject([{ result: 7 }, { result: [true, 7] }]);
    },
  );

  it('pass through pipes: instances, classes with dependencies, and those of Nest', async () => {
    @Injectable()
    class Units {
      readonly factor = 100;
    }
    @Injectable()
    class ToCents implements PipeTransform {
      constructor(private readonly units: Units) {}

      transform(value: number) {
        return value * this.units.factor;
      }
    }
    class PlusOne implements PipeTransform {
      transform(value: number) {
        return value + 1;
      }
    }
    class Handlers {
      @QueueProcessor('q')
      handle(@JobPayload(ParseIntPipe, ToCents, new PlusOne()) cents: number) {
        return cents;
      }
    }
    const { get, ended } = await start({ providers: [Handlers, Units] });

    const good = await get(QueueProducer).enqueue('q', '12');
    const bad = await get(QueueProducer).enqueue('q', 'twelve');

    expect(await ended(good)).toMatchObject({ state: 'completed', result: 1201 });
    expect(await ended(bad)).toMatchObject({ state: 'dead', error: { name: 'BadRequestException' } });
  });

  it('reach pipes as a body with their type, so that validating pipes check the payload', async () => {
    const received: ArgumentMetadata[] = [];
    class Recorder implements PipeTransform {
      transform(value: unknown, metadata: ArgumentMetadata) {
        received.push(metadata);
        return value;
      }
    }
    class Mail {
      to!: string;
    }
    class Handlers {
      @QueueProcessor('q')
      @UsePipes(new Recorder())
      handle(@JobPayload() mail: Mail, @JobHeader('trace') trace: string) {
        return [mail, trace];
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    await ended(await get(QueueProducer).enqueue('q', { to: 'ada' }));

    expect(received).toHaveLength(2);
    expect(received).toContainEqual(expect.objectContaining({ type: 'body', metatype: Mail }));
    expect(received).toContainEqual(expect.objectContaining({ type: 'custom', metatype: String, data: 'trace' }));
  });

  it('can have custom decorators of the application', async () => {
    const Tenant = createParamDecorator((fallback: string, context: ExecutionContext) => {
      const [job] = context.getArgs<[JobContext]>();
      return `${context.getType()} ${job.headers.tenant ?? fallback}`;
    });
    class Handlers {
      @QueueProcessor('q')
      handle(@JobPayload() payload: number, @Tenant('none') tenant: string) {
        return [payload, tenant];
      }
    }
    const { get, ended } = await start({ providers: [Handlers] });

    const job = await get(QueueProducer).enqueue('q', 1, { headers: { tenant: 'acme' } });
    const other = await get(QueueProducer).enqueue('q', 2);

    expect(await ended(job)).toMatchObject({ result: [1, 'sql-queue acme'] });
    expect(await ended(other)).toMatchObject({ result: [2, 'sql-queue none'] });
  });

  it('are those of the overriding method in a subclass', async () => {
    class Base {
      @QueueProcessor('q')
      handle(@JobPayload(ParseIntPipe) first: unknown, @JobHeader('trace') second?: unknown): unknown {
        return [first, second];
      }

      @QueueProcessor('inherited')
      inherited(@JobPayload() payload: unknown) {
        return payload;
      }
    }
    class Derived extends Base {
      @QueueProcessor('q')
      override handle(@JobHeader('trace') first: unknown, @JobPayload() second: unknown) {
        return ['derived', first, second];
      }
    }
    const { get, ended } = await start({ providers: [Derived] });

    const job = await get(QueueProducer).enqueue('q', 'payload', { headers: { trace: 'trace' } });
    const inherited = await get(QueueProducer).enqueue('inherited', 'payload');

    expect(await ended(job)).toMatchObject({ result: ['derived', 'trace', 'payload'] });
    expect(await ended(inherited)).toMatchObject({ result: 'payload' });
  });
});
