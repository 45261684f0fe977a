import {
  Controller,
  Inject,
  Injectable,
  Module,
  Scope,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type ArgumentMetadata,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { map } from 'rxjs';
import { JobContext, JobPayload, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { startError, start } from './support/application.js';

@Injectable()
class Rules {
  allows(payload: unknown) {
    return payload !== 'forbidden';
  }
}

@Injectable()
class Guard implements CanActivate {
  constructor(private readonly rules: Rules) {}

  canActivate(context: ExecutionContext) {
    return this.rules.allows(context.getArgByIndex<JobContext>(0).payload);
  }
}

@Injectable()
class Loud implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((value) => `${String(value)}!`));
  }
}

@Injectable()
class Upper implements PipeTransform {
  transform(value: unknown, { type }: ArgumentMetadata) {
    return type === 'body' ? String(value).toUpperCase() : value;
  }
}

class Echo {
  @QueueProcessor('echo')
  @UseGuards(Guard)
  @UseInterceptors(Loud)
  @UsePipes(Upper)
  echo(@JobPayload() text: string) {
    return text;
  }
}

@UseGuards(Guard)
@UseInterceptors(Loud)
@UsePipes(Upper)
class EchoByClass {
  @QueueProcessor('echo')
  echo(@JobPayload() text: string) {
    return text;
  }
}

@Controller()
class EchoController extends EchoByClass {}

const forms = {
  'a class': { providers: [Echo] },
  'a decorated class': { providers: [EchoByClass] },
  'a class under another token': { providers: [{ provide: 'echo', useClass: EchoByClass }] },
  'a class under two tokens': { providers: [Echo, { provide: 'echo', useExisting: Echo }] },
  'a controller': { controllers: [EchoController] },
};

describe('guards, interceptors and pipes on a handler', () => {
  describe.each(Object.entries(forms))('of %s', (_form, metadata) => {
    const feature = () => {
      @Module({ providers: [Rules], exports: [Rules] })
      class RulesModule {}
      @Module({ imports: [RulesModule], ...metadata })
      class Feature {}
      return start({ imports: [Feature] });
    };

    it('run around it', async () => {
      const { get, ended } = await feature();

      const job = await get(QueueProducer).enqueue('echo', 'hello');

      expect(await ended(job)).toMatchObject({ state: 'completed', result: 'HELLO!' });
    });

    it('can reject a job before it runs', async () => {
      const { get, ended } = await feature();

      const job = await get(QueueProducer).enqueue('echo', 'forbidden');

      expect(await ended(job)).toMatchObject({ state: 'dead', error: { message: 'Forbidden resource' } });
    });
  });

  it.each([
    { provide: 'echo', useValue: new EchoByClass() },
    { provide: 'echo', useFactory: () => new EchoByClass() },
  ])('stop the boot if Nest does not instantiate them: %o', async (provider) => {
    const error = await startError({ providers: [Rules, provider] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toMatch(
      /^Queue handlers: EchoByClass\.echo: Guard, Loud, Upper would not run\..* give the decorators instances$/,
    );
  });

  it('run on an object from a value or a factory if they are instances', async () => {
    class EchoByInstances {
      @QueueProcessor('echo')
      @UseGuards(new Guard(new Rules()))
      @UseInterceptors(new Loud())
      echo(@JobPayload(new Upper()) text: string) {
        return text;
      }
    }
    const { get, ended } = await start({
      providers: [{ provide: 'echo', useFactory: () => new EchoByInstances() }],
    });

    const allowed = await get(QueueProducer).enqueue('echo', 'hello');
    const refused = await get(QueueProducer).enqueue('echo', 'forbidden');

    expect(await ended(allowed)).toMatchObject({ state: 'completed', result: 'HELLO!' });
    expect(await ended(refused)).toMatchObject({ state: 'dead' });
  });

  it('can be transient or request-scoped', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class TransientGuard extends Guard {}
    @Injectable({ scope: Scope.REQUEST })
    class JobGuard implements CanActivate {
      constructor(
        @Inject(REQUEST) private readonly job: JobContext,
        private readonly rules: Rules,
      ) {}

      canActivate() {
        return this.rules.allows(this.job.payload);
      }
    }
    class Guarded {
      @QueueProcessor('transient')
      @UseGuards(TransientGuard)
      transient() {
        return 'ran';
      }
    }
    class GuardedByJob {
      @QueueProcessor('request')
      @UseGuards(JobGuard)
      request() {
        return 'ran';
      }
    }
    const { get, ended } = await start({ providers: [Rules, Guarded, GuardedByJob] });

    for (const queue of ['transient', 'request']) {
      const allowed = await get(QueueProducer).enqueue(queue, 'fine');
      const refused = await get(QueueProducer).enqueue(queue, 'forbidden');

      expect(await ended(allowed)).toMatchObject({ state: 'completed', result: 'ran' });
      expect(await ended(refused)).toMatchObject({ state: 'dead', error: { name: 'ForbiddenException' } });
    }
  });

  it('belong to the module that provides the handler if two modules provide its class', async () => {
    @Injectable()
    class Name {
      value = '';
    }
    @Injectable()
    class Named implements NestInterceptor {
      constructor(private readonly name: Name) {}

      intercept(_context: ExecutionContext, next: CallHandler) {
        return next.handle().pipe(map(() => this.name.value));
      }
    }
    class Base {
      @QueueProcessor('first')
      @UseInterceptors(Named)
      work() {}
    }
    class Other extends Base {
      @QueueProcessor('second')
      @UseInterceptors(Named)
      override work() {}
    }
    @Module({ providers: [{ provide: Name, useValue: { value: 'first' } }, Base] })
    class First {}
    @Module({
      providers: [
        { provide: Name, useValue: { value: 'second' } },
        { provide: Base, useClass: Other },
      ],
    })
    class Second {}
    const { get, ended } = await start({ imports: [First, Second] });

    const first = await get(QueueProducer).enqueue('first', null);
    const second = await get(QueueProducer).enqueue('second', null);

    expect(await ended(first)).toMatchObject({ result: 'first' });
    expect(await ended(second)).toMatchObject({ result: 'second' });
  });
});
