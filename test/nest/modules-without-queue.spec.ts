import type { DynamicModule } from '@nestjs/common';
import { FastifyAdapter } from '@bull-board/fastify';
import { SqlQueueBoardModule } from 'nestjs-sql-queue/board';
import { SqlQueueBullBoardModule } from 'nestjs-sql-queue/bull-board';
import { SqlQueuePrometheusModule } from 'nestjs-sql-queue/prometheus';
import { SqlQueueTerminusModule } from 'nestjs-sql-queue/terminus';
import { Registry } from 'prom-client';
import { OpenGuard } from '../board/support/board-app.js';
import { queueModule, startErrorOf } from './support/application.js';

const MODULES: [string, (instance?: string) => DynamicModule][] = [
  ['the board', (instance) => SqlQueueBoardModule.forRoot({ guards: [OpenGuard], ...of(instance) })],
  [
    'bull-board',
    (instance) =>
      SqlQueueBullBoardModule.forRoot({
        route: 'q',
        adapter: FastifyAdapter,
        middleware: [],
        ...of(instance),
      }),
  ],
  ['the metrics', (instance) => SqlQueuePrometheusModule.forRoot({ registry: new Registry(), ...of(instance) })],
  ['the health check', (instance) => SqlQueueTerminusModule.forRoot(of(instance))],
];

function of(instance: string | undefined): { instance?: string } {
  return instance === undefined ? {} : { instance };
}

describe.each(MODULES)('%s', (_title, module) => {
  it('stops the boot without SqlQueueModule, and says what to write', async () => {
    const error = await startErrorOf({ imports: [module()] });

    expect(error).toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(error.message).toContain('expected SqlQueueModule.forRoot() in the application, got none');
    expect(error.message).not.toContain('Symbol(');
  });

  it('stops the boot if no instance has its name', async () => {
    const error = await startErrorOf({ imports: [queueModule(), module('audit')] });

    expect(error.message).toContain(`expected SqlQueueModule.forRoot({ name: 'audit' }) in the application, got none`);
  });
});
