import type { INestApplicationContext, LoggerService, ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  QueueAdmin,
  SqlQueueModule,
  SqlQueueRunner,
  type JobRecord,
  type SqlQueueModuleOptions,
  type StaticOptions,
} from 'nestjs-sql-queue';

/** A private database of the queue. It is deleted with the application. */
export const IN_MEMORY = { type: 'better-sqlite3', database: ':memory:' } as const;

export type Level = 'log' | 'warn' | 'error' | 'debug' | 'verbose' | 'fatal';

/** The log lines of the application, in order. */
export class Log implements LoggerService {
  readonly lines: { level: Level; text: string }[] = [];

  log = (message: unknown) => this.#append('log', message);
  warn = (message: unknown) => this.#append('warn', message);
  error = (message: unknown) => this.#append('error', message);
  debug = (message: unknown) => this.#append('debug', message);
  verbose = (message: unknown) => this.#append('verbose', message);
  fatal = (message: unknown) => this.#append('fatal', message);

  at(level: Level): string[] {
    return this.lines.filter((line) => line.level === level).map(({ text }) => text);
  }

  #append(level: Level, message: unknown): void {
    this.lines.push({ level, text: message instanceof Error ? message.message : String(message) });
  }
}

export interface World {
  readonly app: INestApplicationContext;
  readonly log: Log;
  readonly runner: SqlQueueRunner;
  readonly admin: QueueAdmin;
  get<T>(token: Type<T> | string | symbol): T;
  /** Closes the application once, because Nest 11 would run every hook again. */
  close(): Promise<void>;
  /** Resolves when this process has no job left to run. */
  idle(): Promise<void>;
  /** A job as the database stores it, after this process is idle. */
  ended(job: { id: number }): Promise<JobRecord>;
}

/** Runs the cleanup after the test that calls this, the last one first. */
export function afterTest(cleanup: () => Promise<unknown>): void {
  onTestFinished(async () => void (await cleanup()));
}

/** The module with the options of most tests: in memory, with immediate retries. */
export function queueModule(options: SqlQueueModuleOptions & StaticOptions = {}) {
  const { defaults, worker, ...rest } = options;
  return SqlQueueModule.forRoot({
    connection: IN_MEMORY,
    // The log of these tests has texts alone.
    logFormat: 'params',
    // Test files share a process, so classes of other tests are loaded.
    unprovided: 'ignore',
    defaults: { retry: { attempts: 1, backoff: 0 }, ...defaults },
    worker: typeof worker === 'object' ? { ...FAST_POLL, ...worker } : (worker ?? FAST_POLL),
    ...rest,
  });
}

/** Short poll intervals. */
export const FAST_POLL = { poll: { min: '1ms', max: '20ms' } } as const;

/** An application before its start. It is closed after the test. */
export async function compile(metadata: ModuleMetadata, log = new Log()): Promise<World> {
  const builder = Test.createTestingModule(metadata).setLogger(log);
  const app = await builder.compile();
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= app.close());
  afterTest(close);
  const runner = app.get(SqlQueueRunner, { strict: false });
  const admin = app.get(QueueAdmin, { strict: false });
  const idle = () => runner.whenIdle();
  return {
    ...{ app, log, runner, admin, idle, close },
    get: (token) => app.get(token, { strict: false }),
    ended: async ({ id }) => {
      await idle();
      return (await admin.get(id))!;
    },
  };
}

/** A started application. The queue is in memory unless `options` or the imports change that. */
export async function start(
  { imports = [], ...metadata }: ModuleMetadata,
  options: SqlQueueModuleOptions & StaticOptions = {},
): Promise<World> {
  const world = await compile({ ...metadata, imports: [queueModule(options), ...imports] });
  await world.app.init();
  return world;
}

/** The error of a failed start. The application is closed after the test in any case. */
export async function startError(
  { imports = [], ...metadata }: ModuleMetadata,
  options: SqlQueueModuleOptions & StaticOptions = {},
): Promise<Error> {
  return startErrorOf({ ...metadata, imports: [queueModule(options), ...imports] });
}

/** Like `startError`, for an application with its own import of the module. */
export async function startErrorOf(metadata: ModuleMetadata): Promise<Error> {
  try {
    const app = await Test.createTestingModule(metadata).setLogger(new Log()).compile();
    // Nest 11 closes nothing after a failed start.
    afterTest(() => app.close().catch(() => undefined));
    await app.init();
  } catch (error) {
    return error as Error;
  }
  throw new Error('The application came up.');
}

/** A folder that is deleted after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sql-queue-test-'));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A promise and its resolver, for a handler that signals the test or waits for it. */
export function gate<T = void>() {
  let give!: (value: T) => void;
  const given = new Promise<T>((resolve) => (give = resolve));
  return { give, given };
}
