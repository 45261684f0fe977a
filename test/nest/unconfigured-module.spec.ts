import { Injectable, Module } from '@nestjs/common';
import { QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { rm } from 'node:fs/promises';
import { afterTest, start, startErrorOf } from './support/application.js';
import { compileLibrary, runProgram } from './support/program.js';

const EXPECTED =
  'SqlQueueModule: expected SqlQueueModule.forRoot() in the application, got none: `imports: [SqlQueueModule]` configures no ' +
  'queue. Write `imports: [SqlQueueModule.forRoot()]` in the root module';

@Injectable()
class Signups {
  constructor(readonly producer: QueueProducer) {}
}

@Module({ imports: [SqlQueueModule], providers: [Signups] })
class Feature {}

describe('an import of SqlQueueModule without forRoot()', () => {
  it('stops the boot, wherever a provider or a controller injects a part of the queue', async () => {
    const folder = await compileLibrary();
    afterTest(() => rm(folder, { recursive: true, force: true }));

    const { stdout, stderr } = await runProgram(
      folder,
      `
        import 'reflect-metadata';
        import { Controller, Injectable, Module } from '@nestjs/common';
        import { NestFactory } from '@nestjs/core';
        import { TypeOrmModule } from '@nestjs/typeorm';
        import { QueueProducer, SqlQueueModule } from './lib/index.js';

        @Injectable()
        class Signups {
          constructor(readonly producer: QueueProducer) {}
        }

        @Controller('signups')
        class SignupsController {
          constructor(readonly producer: QueueProducer) {}
        }

        @Module({ imports: [SqlQueueModule], providers: [Signups], controllers: [SignupsController] })
        class Feature {}

        const typeOrm = TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:' });
        for (const metadata of [
          { imports: [SqlQueueModule] },
          { imports: [SqlQueueModule], providers: [Signups] },
          { imports: [SqlQueueModule], controllers: [SignupsController] },
          { imports: [typeOrm, SqlQueueModule], providers: [Signups], controllers: [SignupsController] },
          { imports: [Feature] },
        ]) {
          class AppModule {}
          Module(metadata)(AppModule);
          const options = { abortOnError: false, logger: false } as const;
          await NestFactory.createApplicationContext(AppModule, options).catch((error) =>
            console.log(error.code, error.message),
          );
        }
        process.exit(0);
      `,
    );

    expect(stdout.trim().split('\n'), stderr).toEqual(Array(5).fill(`INVALID_OPTIONS ${EXPECTED}`));
  });

  it('stops the boot of one of several applications in a process', async () => {
    SqlQueueModule.forRoot();

    const error = await startErrorOf({ imports: [SqlQueueModule] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS', message: EXPECTED });
  });

  it('does no harm beside forRoot()', async () => {
    const { get } = await start({ imports: [Feature] });

    expect(await get(Signups).producer.enqueue('q', 1)).toMatchObject({ id: 1 });
  });
});
