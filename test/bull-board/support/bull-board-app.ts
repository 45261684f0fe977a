import type { INestApplication, LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter as NestFastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from '@bull-board/express';
import { FastifyAdapter } from '@bull-board/fastify';
import { QueueAdmin, QueueProducer, QueueSchedules, SqlQueueModule, SqlQueueRunner } from 'nestjs-sql-queue';
import { SqlQueueBullBoardModule, type BullBoardOptions } from 'nestjs-sql-queue/bull-board';
import { onTestFinished } from 'vitest';

export interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface BullBoardApp {
  readonly app: INestApplication;
  /** The URL of the page. */
  readonly url: string;
  readonly admin: QueueAdmin;
  readonly producer: QueueProducer;
  readonly runner: SqlQueueRunner;
  readonly schedules: QueueSchedules;
  /** The errors in the log of the application. */
  readonly errors: string[];
  read(path: string, headers?: Record<string, string>): Promise<Answer>;
  write(
    method: 'PUT' | 'POST' | 'PATCH',
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Enqueues a job that fails, and waits until it is dead. */
  fail(queue: string, error: Error, payload?: unknown): Promise<number>;
}

export interface BullBoardAppOptions {
  framework?: Framework;
  board?: Partial<BullBoardOptions>;
  connection?: object;
  prefix?: string;
  configure?: (app: INestApplication) => void;
}

export type Framework = 'express' | 'fastify';

export const FRAMEWORKS: readonly Framework[] = ['express', 'fastify'];
export const ROUTE = 'admin/queues';

/** A started application with bull-board, on a port of its own. It is closed after the test. */
export async function startBullBoard({
  framework = 'express',
  board,
  connection = { type: 'better-sqlite3', database: ':memory:' },
  prefix,
  configure,
}: BullBoardAppOptions = {}): Promise<BullBoardApp> {
  const errors: string[] = [];
  const adapter = framework === 'fastify' ? FastifyAdapter : ExpressAdapter;
  class AppModule {}
  const root = {
    module: AppModule,
    imports: [
      SqlQueueModule.forRoot({
        connection: connection as never,
        defaults: { retry: { attempts: 1, backoff: 0 } },
        worker: { poll: { min: '1ms', max: '20ms' } },
      }),
      SqlQueueBullBoardModule.forRoot({ route: ROUTE, adapter, middleware: [], ...board }),
    ],
  };
  const options = { logger: quietLogger(errors), abortOnError: false };
  const app =
    framework === 'fastify'
      ? await NestFactory.create(root, new NestFastifyAdapter(), options)
      : await NestFactory.create(root, options);
  onTestFinished(() => app.close());
  if (prefix !== undefined) app.setGlobalPrefix(prefix);
  configure?.(app);
  await app.listen(0, '127.0.0.1');
  const url = [await app.getUrl(), prefix, ROUTE].filter(Boolean).join('/');
  const get = <T>(token: abstract new (...args: never[]) => T) => app.get<T>(token, { strict: false });
  const [producer, runner] = [get(QueueProducer), get(SqlQueueRunner)];
  return {
    ...{ app, url, errors, producer, runner },
    admin: get(QueueAdmin),
    schedules: get(QueueSchedules),
    read: (path, headers = {}) => request(`${url}/api/${path}`, { headers }),
    write: (method, path, body, headers = {}) =>
      request(`${url}/api/${path}`, {
        method,
        headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    fail: async (queue, error, payload = {}) => {
      const { id } = await producer.enqueue(queue, payload);
      const stop = await runner.handle(queue, {}, () => {
        throw error;
      });
      await runner.whenIdle();
      await stop();
      return id;
    },
  };
}

async function request(url: string, init: RequestInit): Promise<Answer> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  return { status: answer.status, body: /^[{[]/.test(text) ? JSON.parse(text) : text };
}

function quietLogger(errors: string[]): LoggerService {
  const ignore = () => undefined;
  return {
    ...{ log: ignore, warn: ignore, debug: ignore, verbose: ignore },
    error: (message: unknown) => void errors.push(String(message)),
  };
}
