import { rm } from 'node:fs/promises';
import { freshDatabase, servers } from '../support/servers.js';
import { afterTest } from './support/application.js';
import { compileLibrary, runProgram } from './support/program.js';

/** A program with two instances of the module. `closing` contains the statements that start and close it. */
function program(connection: object, closing: string): string {
  return `
    import 'reflect-metadata';
    import { Module } from '@nestjs/common';
    import { NestFactory } from '@nestjs/core';
    import { TypeOrmModule } from '@nestjs/typeorm';
    import { JobContext, QueueProcessor, QueueProducer, SqlQueueModule, SqlQueueRunner } from './lib/index.js';

    class Mails {
      @QueueProcessor('mail')
      send(job: JobContext) { console.log('sent ' + job.payload); }
      @QueueProcessor('mail', { instance: 'own' })
      own() {}
      WRONG
    }

    const connection = ${JSON.stringify(connection)};
    @Module({
      imports: [
        TypeOrmModule.forRoot({ ...connection, autoLoadEntities: true }),
        SqlQueueModule.forRoot(),
        SqlQueueModule.forRoot({ name: 'own', prefix: 'own_', connection }),
      ],
      providers: [Mails],
    })
    class AppModule {}

    const options = { logger: ['error'], abortOnError: false };
    ${closing}
  `;
}

const COMES_UP = `
  const app = await NestFactory.createApplicationContext(AppModule, options);
  await app.get(QueueProducer).enqueue('mail', 'hello');
  await app.get(QueueProducer).enqueue('mail', 'never', { delay: '1h' });
  await app.get(SqlQueueRunner).whenIdle();
  await app.close();
  console.log('closed');
`;

const IS_REFUSED = `
  const { DataSource } = await import('typeorm');
  const initialize = DataSource.prototype.initialize;
  const opened = [];
  DataSource.prototype.initialize = function () { opened.push(this); return initialize.call(this); };
  await NestFactory.createApplicationContext(AppModule, options).catch((error) => console.log(error.message));
  // The library does not close the connections of TypeOrmModule.
  console.log(opened.map(({ isInitialized }) => isInitialized).join());
  await opened[0].destroy();
`;

let folder: string;

beforeAll(async () => {
  folder = await compileLibrary();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(servers)('a process on $name', (server) => {
  it('ends when the application is closed', async () => {
    const database = await freshDatabase(server);
    afterTest(() => database.drop());

    const ended = await runProgram(folder, program(database.connection, COMES_UP).replace('WRONG', ''));

    expect(ended).toEqual({ code: 0, stdout: 'sent hello\nclosed\n', stderr: '' });
  });
});

// One server is enough, preferably one with connections that keep a process alive.
describe.each(servers.slice(0, 1))('a process on $name', (server) => {
  it('ends after a failed boot, because the queue has closed its connections', async () => {
    const database = await freshDatabase(server);
    afterTest(() => database.drop());

    const wrong = `@QueueProcessor('mail') again() {}`;
    const ended = await runProgram(folder, program(database.connection, IS_REFUSED).replace('WRONG', wrong));

    expect(ended.stdout).toMatch(/^Queue handlers: two handlers for queue "mail": .*\ntrue,false\n$/);
    expect(ended.code).toBe(0);
  });
});
