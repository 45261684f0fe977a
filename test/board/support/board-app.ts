import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CanActivate,
  type DynamicModule,
  type INestApplication,
  type LoggerService,
  type Provider,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  QueueAdmin,
  QueueConsumer,
  QueueProducer,
  QueueSchedules,
  SqlQueueModule,
  SqlQueueRunner,
  type QueueOptionsByName,
} from 'nestjs-sql-queue';
import { SqlQueueBoardModule, type BoardOptions, type BoardStaticOptions } from 'nestjs-sql-queue/board';
import { onTestFinished } from 'vitest';
import { getEngineToken } from '../../../lib/nest/tokens.js';
import type { OpenStore } from '../../../lib/store/open-store.js';
import type { ErrorsRow } from '../../../lib/store/features/metrics/metrics-store.js';
import { errorsRow } from '../../support/metrics.js';

export interface BoardApp {
  readonly app: INestApplication;
  /** The URL of the page. */
  readonly url: string;
  readonly admin: QueueAdmin;
  readonly consumer: QueueConsumer;
  readonly producer: QueueProducer;
  readonly runner: SqlQueueRunner;
  readonly schedules: QueueSchedules;
  /** The errors in the log of the application. */
  readonly errors: string[];
  /** Counts failed attempts, as a worker does every ten seconds. Their time is this minute, or so many minutes ago. */
  countErrors(...rows: (Partial<ErrorsRow> & { minutesAgo?: number })[]): Promise<void>;
  read(path: string, headers?: Record<string, string>): Promise<{ status: number; body: any }>;
  write(verb: string, body: unknown, headers?: Record<string, string>): Promise<{ status: number; body: any }>;
  close(): Promise<void>;
}

export interface BoardAppOptions {
  board?: BoardOptions & BoardStaticOptions;
  module?: DynamicModule;
  adapter?: 'express' | 'fastify';
  providers?: Provider[];
  connection?: object;
  queues?: QueueOptionsByName;
  prefix?: string;
  configure?: (app: INestApplication) => void;
}

export const PATH = 'ops/queues';

/** Lets every request in. */
export class OpenGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

/** An SQLite file for applications that run one after the other. It is deleted after the test. */
export async function freshConnection(): Promise<{ type: 'better-sqlite3'; database: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'sql-queue-board-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return { type: 'better-sqlite3', database: join(folder, 'board.sqlite') };
}

/** A started application with a board, on a port of its own. It is closed after the test. */
export async function startBoard({
  board,
  module,
  adapter = 'express',
  providers = [],
  connection = { type: 'better-sqlite3', database: ':memory:' },
  prefix,
  queues = {},
  configure,
}: BoardAppOptions = {}): Promise<BoardApp> {
  const errors: string[] = [];
  const imports = [
    SqlQueueModule.forRoot({
      connection: connection as never,
      queues,
      defaults: { retry: { attempts: 1, backoff: 0 } },
      worker: { poll: { min: '1ms', max: '20ms' } },
    }),
    module ?? SqlQueueBoardModule.forRoot({ path: PATH, guards: [OpenGuard], ...board }),
  ];
  class AppModule {}
  const root = { module: AppModule, imports, providers };
  const logger = quietLogger(errors);
  const app =
    adapter === 'fastify'
      ? await NestFactory.create(root, new FastifyAdapter(), { logger, abortOnError: false })
      : await NestFactory.create(root, { logger, abortOnError: false });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= app.close());
  onTestFinished(close);
  if (prefix !== undefined) app.setGlobalPrefix(prefix);
  configure?.(app);
  await app.listen(0, '127.0.0.1');
  const url = [await app.getUrl(), prefix, board?.path ?? PATH].filter(Boolean).join('/');
  const get = <T>(token: abstract new (...args: never[]) => T) => app.get<T>(token, { strict: false });
  return {
    ...{ app, url, errors, close },
    admin: get(QueueAdmin),
    consumer: get(QueueConsumer),
    producer: get(QueueProducer),
    runner: get(SqlQueueRunner),
    schedules: get(QueueSchedules),
    countErrors: async (...rows) => {
      const { metrics } = app.get<{ stores: OpenStore }>(getEngineToken(), { strict: false }).stores;
      const at = await metrics.readTime();
      const startOf = (minutesAgo = 0) => at - (at % 60_000) - minutesAgo * 60_000;
      await metrics.save(
        [],
        rows.map(({ minutesAgo, ...row }) => errorsRow({ startsAtMs: startOf(minutesAgo), ...row })),
      );
    },
    read: (path, headers = {}) => request(`${url}/api/${path}`, { headers }),
    write: (verb, body, headers = {}) =>
      request(`${url}/api/${verb}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-sql-queue': '1', origin: new URL(url).origin, ...headers },
        body: JSON.stringify(body),
      }),
  };
}

async function request(url: string, init: RequestInit): Promise<{ status: number; body: any }> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
}

function quietLogger(errors: string[]): LoggerService {
  const ignore = () => undefined;
  return {
    log: ignore,
    warn: ignore,
    debug: ignore,
    verbose: ignore,
    error: (message: unknown) => void errors.push(String(message)),
  };
}
