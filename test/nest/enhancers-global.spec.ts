import {
  Catch,
  Inject,
  Injectable,
  Scope,
  UseGuards,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, REQUEST } from '@nestjs/core';
import { map } from 'rxjs';
import { JobContext, JobPayload, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import { start } from './support/application.js';

@Injectable()
class Guard implements CanActivate {
  canActivate(context: ExecutionContext) {
    return context.getArgByIndex<JobContext>(0).payload !== 'forbidden';
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
  transform(value: unknown) {
    return String(value).toUpperCase();
  }
}

@Catch()
class Forgive implements ExceptionFilter {
  catch(error: Error) {
    return `forgiven: ${error.message}`;
  }
}

class Echo {
  @QueueProcessor('echo')
  echo(@JobPayload() text: string) {
    if (text.toLowerCase() === 'broken') throw new Error('broken');
    return text;
  }
}

const globals = [
  { provide: APP_GUARD, useClass: Guard },
  { provide: APP_INTERCEPTOR, useClass: Loud },
  { provide: APP_PIPE, useClass: Upper },
  { provide: APP_FILTER, useClass: Forgive },
];

describe.each([undefined, 'local', 'none'] as const)('with enhancers: %o', (enhancers) => {
  it('the global guards, interceptors, pipes and filters of the application do not run around handlers', async () => {
    const { get, ended } = await start({ providers: [Echo, ...globals] }, { ...(enhancers && { enhancers }) });

    const forbidden = await get(QueueProducer).enqueue('echo', 'forbidden');
    const broken = await get(QueueProducer).enqueue('echo', 'broken');

    expect(await ended(forbidden)).toMatchObject({ state: 'completed', result: 'forbidden' });
    expect(await ended(broken)).toMatchObject({ state: 'dead', error: { message: 'broken' } });
  });
});

describe("with enhancers: 'all'", () => {
  it('the global guards, interceptors, pipes and filters of the application run around handlers', async () => {
    const { get, ended } = await start({ providers: [Echo, ...globals] }, { enhancers: 'all' });

    const fine = await get(QueueProducer).enqueue('echo', 'hello');
    const forbidden = await get(QueueProducer).enqueue('echo', 'forbidden');
    const broken = await get(QueueProducer).enqueue('echo', 'broken');

    expect(await ended(fine)).toMatchObject({ state: 'completed', result: 'HELLO!' });
    expect(await ended(forbidden)).toMatchObject({ state: 'completed', result: 'forgiven: Forbidden resource' });
    expect(await ended(broken)).toMatchObject({ state: 'completed', result: 'forgiven: broken' });
  });

  it('request-scoped global enhancers run too, and their REQUEST is the job', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class JobGuard implements CanActivate {
      constructor(@Inject(REQUEST) private readonly job: JobContext) {}

      canActivate() {
        return this.job.payload !== 'forbidden';
      }
    }
    const { get, ended } = await start(
      { providers: [Echo, { provide: APP_GUARD, useClass: JobGuard, scope: Scope.REQUEST }] },
      { enhancers: 'all' },
    );

    const fine = await get(QueueProducer).enqueue('echo', 'hello');
    const forbidden = await get(QueueProducer).enqueue('echo', 'forbidden');

    expect(await ended(fine)).toMatchObject({ state: 'completed', result: 'hello' });
    expect(await ended(forbidden)).toMatchObject({ state: 'dead', error: { message: 'Forbidden resource' } });
  });
});

describe("with enhancers: 'none'", () => {
  it('guards, interceptors and filters on a handler do not run, but pipes of its parameters do', async () => {
    class Guarded {
      @QueueProcessor('guarded')
      @UseGuards(Guard)
      guarded(@JobPayload(Upper) text: string) {
        return text;
      }
    }
    const { get, ended } = await start({ providers: [Guarded] }, { enhancers: 'none' });

    const job = await get(QueueProducer).enqueue('guarded', 'forbidden');

    expect(await ended(job)).toMatchObject({ state: 'completed', result: 'FORBIDDEN' });
  });
});
