import { Inject, Injectable, Module, Scope } from '@nestjs/common';
import { ContextIdFactory, ModuleRef, REQUEST, type ContextId, type HostComponentInfo } from '@nestjs/core';
import { JobContext, JobHandler, JobPayload, OnQueueEvent, QueueProcessor, QueueProducer } from 'nestjs-sql-queue';
import type { QueueEvent } from 'nestjs-sql-queue';
import { afterTest, gate, start } from './support/application.js';

describe('a request-scoped handler', () => {
  it('is created for each job, and its REQUEST is the job', async () => {
    const made: JobContext[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Mails {
      constructor(@Inject(REQUEST) private readonly job: JobContext) {
        made.push(job);
      }

      @QueueProcessor('mail')
      send(job: JobContext) {
        return [this.job === job, this.job.payload];
      }
    }
    const { get, ended } = await start({ providers: [Mails] });
    expect(made).toEqual([]);

    const first = await get(QueueProducer).enqueue('mail', 'a');
    const second = await get(QueueProducer).enqueue('mail', 'b');

    expect(await ended(first)).toMatchObject({ result: [true, 'a'] });
    expect(await ended(second)).toMatchObject({ result: [true, 'b'] });
    expect(new Set(made.map(({ id }) => id))).toEqual(new Set([first.id, second.id]));
    expect(made).toHaveLength(2);
  });

  it('can be request-scoped through a dependency', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Tenant {
      constructor(@Inject(REQUEST) readonly job: JobContext) {}
    }
    @Injectable()
    class Users {
      constructor(readonly tenant: Tenant) {}
    }
    @Module({ providers: [Users, Tenant], exports: [Users, Tenant] })
    class UsersModule {}
    @QueueProcessor('mail')
    @Injectable()
    class Mails {
      constructor(
        private readonly users: Users,
        private readonly tenant: Tenant,
      ) {}

      @JobHandler('welcome')
      welcome(@JobPayload() payload: string) {
        return [payload, this.users.tenant === this.tenant, this.tenant.job.headers.tenant];
      }
    }
    const { get, ended } = await start({ imports: [UsersModule], providers: [{ provide: 'mails', useClass: Mails }] });

    const job = await get(QueueProducer).enqueue('mail', 'hi', { name: 'welcome', headers: { tenant: 't1' } });

    expect(await ended(job)).toMatchObject({ result: ['hi', true, 't1'] });
  });

  it('shares its context with providers that are resolved for the job', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Tenant {}
    @Injectable()
    class Mails {
      constructor(
        private readonly tenant: Tenant,
        private readonly moduleRef: ModuleRef,
      ) {}

      @QueueProcessor('mail')
      async send(job: JobContext) {
        return (await this.moduleRef.resolve(Tenant, ContextIdFactory.getByRequest(job))) === this.tenant;
      }
    }
    const { get, ended } = await start({ providers: [Mails, Tenant] });

    const job = await get(QueueProducer).enqueue('mail', null);

    expect(await ended(job)).toMatchObject({ result: true });
  });

  it('is one handler even if it has an alias', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Mails {
      @QueueProcessor('mail')
      send() {
        return 'sent';
      }
    }
    const { get, ended } = await start({ providers: [Mails, { provide: 'mails', useExisting: Mails }] });

    const job = await get(QueueProducer).enqueue('mail', null);

    expect(await ended(job)).toMatchObject({ result: 'sent' });
  });

  it('fails its job if its constructor throws', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Mails {
      constructor() {
        throw new Error('no connection for this tenant');
      }

      @QueueProcessor('mail')
      send() {}
    }
    const { get, ended } = await start({ providers: [Mails] });

    const job = await get(QueueProducer).enqueue('mail', null);

    expect(await ended(job)).toMatchObject({ state: 'dead', error: { message: 'no connection for this tenant' } });
  });

  it('runs two jobs at once without mixing them up', async () => {
    let release!: () => void;
    const both = new Promise<void>((resolve) => (release = resolve));
    let running = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Mails {
      constructor(@Inject(REQUEST) private readonly job: JobContext) {}

      @QueueProcessor('mail')
      async send() {
        if (++running === 2) release();
        await both;
        return this.job.payload;
      }
    }
    const { get, ended } = await start({ providers: [Mails] });

    const jobs = await get(QueueProducer).enqueueMany('mail', [{ payload: 'a' }, { payload: 'b' }]);

    expect(await Promise.all(jobs.map(ended))).toMatchObject([{ result: 'a' }, { result: 'b' }]);
  });
});

describe('a transient handler', () => {
  it('is created for each job', async () => {
    let made = 0;
    @Injectable()
    class Dependency {}
    @Injectable({ scope: Scope.TRANSIENT })
    class Mails {
      readonly number = ++made;

      constructor(readonly dependency: Dependency) {}

      @QueueProcessor('mail')
      send() {
        return [this.number, this.dependency instanceof Dependency];
      }
    }
    const { get, ended } = await start({ providers: [Mails, Dependency] });

    const first = await ended(await get(QueueProducer).enqueue('mail', null));
    const second = await ended(await get(QueueProducer).enqueue('mail', null));

    expect([first.result, second.result]).toEqual([
      [made - 1, true],
      [made, true],
    ]);
  });
});

describe('a durable handler', () => {
  it('is created once per context of its strategy, and its REQUEST is the payload of the context', async () => {
    const tenants = new Map<string, ContextId>();
    ContextIdFactory.apply({
      attach(contextId: ContextId, job: JobContext) {
        const tenant = job.headers.tenant!;
        if (!tenants.has(tenant)) tenants.set(tenant, ContextIdFactory.create());
        return {
          resolve: (info: HostComponentInfo) => (info.isTreeDurable ? tenants.get(tenant)! : contextId),
          payload: { tenant },
        };
      },
    });
    afterTest(() => Promise.resolve(ContextIdFactory.apply(undefined as never)));
    let made = 0;
    @Injectable({ scope: Scope.REQUEST, durable: true })
    class Mails {
      readonly number = ++made;

      constructor(@Inject(REQUEST) private readonly request: { tenant: string }) {}

      @QueueProcessor('mail')
      send() {
        return [this.number, this.request.tenant];
      }
    }
    const { get, ended } = await start({ providers: [Mails] });

    const results: unknown[] = [];
    for (const tenant of ['a', 'b', 'a']) {
      const job = await get(QueueProducer).enqueue('mail', null, { headers: { tenant } });
      results.push((await ended(job)).result);
    }

    expect(results).toEqual([
      [1, 'a'],
      [2, 'b'],
      [1, 'a'],
    ]);
  });
});

describe('a request-scoped listener', () => {
  it('is created for each event, and its REQUEST is the event', async () => {
    const received: unknown[] = [];
    const both = gate();
    @Injectable({ scope: Scope.REQUEST })
    class Listener {
      constructor(@Inject(REQUEST) private readonly request: QueueEvent) {}

      @OnQueueEvent('completed')
      completed(event: QueueEvent) {
        received.push([event.jobId, this.request === event]);
        if (received.length === 2) both.give();
      }
    }
    class Mails {
      @QueueProcessor('mail')
      send() {}
    }
    const { get } = await start({ providers: [Mails, Listener] });

    await get(QueueProducer).enqueueMany('mail', [{ payload: null }, { payload: null }]);
    await both.given;

    expect(new Map(received as [number, boolean][])).toEqual(
      new Map([
        [1, true],
        [2, true],
      ]),
    );
  });
});
