import type { INestApplicationContext, LoggerService, ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  QueueAdmin,
  SqlQueueModule,
  SqlQueueRunner,
  type JobRecord,
  type SqlQueueModuleOptions,
  type StaticOptions,
} from 'nestjs-sql-queue';

/** A database of the queue's own that nobody else sees, and that is gone with the application. */
export const IN_MEMORY = { type: 'better-sqlite3', database: ':memory:' } as const;

export type Level = 'log' | 'warn' | 'error' | 'debug' | 'verbose' | 'fatal';

/** What the application said, in order. */
export class Log implements LoggerService {
  readonly lines: { level: Level; text: string }[] = [];

  log = (message: unknown) => this.#note('log', message);
  warn = (message: unknown) => this.#note('warn', message);
  error = (message: unknown) => this.#note('error', message);
  debug = (message: unknown) => this.#note('debug', message);
  verbose = (message: unknown) => this.#note('verbose', message);
  fatal = (message: unknown) => this.#note('fatal', message);

  at(level: Level): string[] {
    return this.lines.filter((line) => line.level === level).map(({ text }) => text);
  }

  #note(level: Level, message: unknown): void {
    this.lines.push({ level, text: message instanceof Error ? message.message : String(message) });
  }
}

export interface World {
  readonly app: INestApplicationContext;
  readonly log: Log;
  readonly runner: SqlQueueRunner;
  readonly admin: QueueAdmin;
  get<T>(token: Type<T> | string | symbol): T;
  /** Closes the application; once, since Nest 11 runs every hook again. */
  close(): Promise<void>;
  /** Everything this process can do has been done. */
  idle(): Promise<void>;
  /** A job as the database has it, once nothing is left to do. */
  ended(job: { id: number }): Promise<JobRecord>;
}

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export function afterTest(cleanup: () => Promise<unknown>): void {
  cleanups.push(cleanup);
}

/** The module as most tests want it: in memory, with retries at once. */
export function queueModule(options: SqlQueueModuleOptions & StaticOptions = {}) {
  const { defaults, worker, ...rest } = options;
  return SqlQueueModule.forRoot({
    connection: IN_MEMORY,
    defaults: { retry: { attempts: 1, backoff: 0 }, ...defaults },
    worker: typeof worker === 'object' ? { ...QUICK, ...worker } : (worker ?? QUICK),
    ...rest,
  });
}

/** Polls that do not make a test wait. */
export const QUICK = { poll: { min: '1ms', max: '20ms' } } as const;

/** An application that has not come up yet. Closed after the test. */
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

/** An application that is up, with the queue in memory unless `options` or the imports say otherwise. */
export async function start(
  { imports = [], ...metadata }: ModuleMetadata,
  options: SqlQueueModuleOptions & StaticOptions = {},
): Promise<World> {
  const world = await compile({ ...metadata, imports: [queueModule(options), ...imports] });
  await world.app.init();
  return world;
}

/** The error with which an application does not come up. Whatever else happens, it is closed after the test. */
export async function refusal(
  { imports = [], ...metadata }: ModuleMetadata,
  options: SqlQueueModuleOptions & StaticOptions = {},
): Promise<Error> {
  return refusalOf({ ...metadata, imports: [queueModule(options), ...imports] });
}

/** The same for an application that says for itself how it imports the module. */
export async function refusalOf(metadata: ModuleMetadata): Promise<Error> {
  try {
    const app = await Test.createTestingModule(metadata).setLogger(new Log()).compile();
    // Nest 11 closes nothing that did not come up.
    afterTest(() => app.close().catch(() => undefined));
    await app.init();
  } catch (error) {
    return error as Error;
  }
  throw new Error('The application came up.');
}

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sql-queue-test-'));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A promise and what settles it, for a handler that tells the test where it is, or waits for it. */
export function signal<T = void>() {
  let give!: (value: T) => void;
  const given = new Promise<T>((resolve) => (give = resolve));
  return { give, given };
}
