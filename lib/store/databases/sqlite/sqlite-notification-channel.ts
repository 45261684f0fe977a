import { watch } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { abortWith } from '../../../common/abort.js';
import type { Clock } from '../../../common/clock.js';
import { type NotificationChannel, type Notification, workerIdOf } from '../../notifications/notification-channel.js';
import { NotificationSender } from '../../notifications/notification-sender.js';
import type { SqlDatabase } from '../../core/sql-database.js';
import { ARRIVING, IN_QUEUE, RETURNED, SCHEDULED } from '../../tables/runnable.js';
import { query } from '../../core/statement.js';

const LISTEN_TIMEOUT_MS = 20_000;
const DELIVERY_TEST_TIMEOUT_MS = 5_000;

const WAITING = `
  SELECT EXISTS (
    SELECT 1
    FROM {jobs} INDEXED BY {jobs}_queue
    WHERE queue IN (:queues) AND runnable IN (${IN_QUEUE}, ${ARRIVING}, ${RETURNED}) AND state = 'waiting' AND run_at IS NULL
  ) AS waiting`;

const CONTROL_STATE = `
  SELECT (SELECT group_concat(queue) FROM {queues} WHERE paused <> 0) AS paused,
         (SELECT group_concat(cancel_requests)
          FROM {claims}
          WHERE worker_id IN (:workers) AND cancel_requests IS NOT NULL) AS cancel_requests,
         (SELECT MAX(expires_at) FROM {waits}) AS awaited`;

// Of the same queues as a work summary: those with a row in `queues`. Of all schedules, also those of other programs.
const NEXT_DUE = `
  SELECT MIN(due) AS due
  FROM (
    SELECT (
      SELECT s.run_at
      FROM {jobs} s INDEXED BY {jobs}_queue
      WHERE s.queue = q.queue AND s.runnable = ${SCHEDULED} AND s.run_at > 0
      ORDER BY s.run_at
      LIMIT 1
    ) AS due
    FROM {queues} q
    UNION ALL
    SELECT MIN(next_at)
    FROM {schedules}
  )`;

/** Called when listening starts. The returned function checks after each touch whether it concerns these names. */
export type NotificationCheck = (names: readonly string[]) => Promise<() => Promise<Notification | undefined>>;

/**
 * Notifies the processes on one database file through the file system. A notification sets the times of the file's
 * `-shm`, which exists while a process has the database open. SQLite ignores these times, and its own writes to the
 * file go through memory, so they trigger no notification.
 */
export class SqliteNotificationChannel implements NotificationChannel {
  readonly #watchedFile: string;
  readonly #sender: NotificationSender;

  constructor(
    file: string,
    private readonly beginCheck: NotificationCheck,
    private readonly clock: Clock,
  ) {
    this.#watchedFile = `${file}-shm`;
    this.#sender = new NotificationSender(() => this.#touch(), clock);
  }

  async findProblem(stop: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#watch(stop, DELIVERY_TEST_TIMEOUT_MS, async (next) => {
        await this.#touch();
        return (await next()) || stop.aborted ? undefined : 'the file system reported no change of the -shm file';
      });
    } catch (error) {
      return (error as Error).message;
    }
  }

  listen(queues: readonly string[], stop: AbortSignal, onListening: () => void): Promise<Notification> {
    return this.#watch(stop, LISTEN_TIMEOUT_MS, async (next) => {
      const check = await this.beginCheck(queues);
      onListening();
      while (await next()) {
        const notification = await check();
        if (notification) return notification;
      }
      return 'none';
    });
  }

  disconnect(): void {}

  notify(queue: string, jobs: number): void {
    this.#sender.notify(queue, jobs);
  }

  prepare(): void {}

  notifyAll(): void {
    this.#sender.notifyAll();
  }

  close(): Promise<void> {
    return this.#sender.close();
  }

  /** Reaches every listener. Each checks whether the notification concerns it, which takes microseconds. */
  async #touch(): Promise<number> {
    const now = this.clock.now();
    await utimes(this.#watchedFile, now, now);
    return 1;
  }

  /** Runs `act`, whose `next` resolves to true after each touch of the file, and to false after `ms` or `stop`. */
  async #watch<T>(stop: AbortSignal, ms: number, act: (next: () => Promise<boolean>) => Promise<T>): Promise<T> {
    const over = new AbortController();
    let touched = false;
    let wake = () => {};
    const watcher = watch(this.#watchedFile, { persistent: false }, (event) => {
      // Another file has replaced it.
      if (event === 'rename') over.abort();
      touched = true;
      wake();
    });
    watcher.on('error', () => over.abort());
    over.signal.addEventListener('abort', () => wake(), { once: true });
    const unlink = abortWith(stop, over);
    const ended = this.clock.sleep(ms, over.signal).then(() => over.abort());
    const next = async () => {
      if (!touched && !over.signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      touched = false;
      return !over.signal.aborted;
    };
    try {
      return await act(next);
    } finally {
      unlink();
      over.abort();
      watcher.close();
      await ended;
    }
  }
}

/** Wakes a worker for jobs in its queues, for an earlier due time or tick, and for changes that its next work summary reads. */
export function checkForWorkers(database: SqlDatabase): NotificationCheck {
  const hasJobs = async (names: readonly string[]) => {
    const queues = names.filter((name) => workerIdOf(name) === undefined);
    if (queues.length === 0) return false;
    const [row] = await database.runIdempotent(() => query<{ waiting: number }>(WAITING, { queues }));
    return row!.waiting > 0;
  };
  const readControlState = async (names: readonly string[]) => {
    const workers = names.map((name) => workerIdOf(name) ?? '');
    return JSON.stringify(await database.runIdempotent(() => query(CONTROL_STATE, { workers })));
  };
  const nextDue = async () => {
    const [row] = await database.runIdempotent(() => query<{ due: number | null }>(NEXT_DUE));
    return row?.due ?? Infinity;
  };
  return async (names) => {
    const before = await readControlState(names);
    const dueBefore = await nextDue();
    return async () => {
      if (await hasJobs(names)) return 'jobs';
      return (await readControlState(names)) === before && (await nextDue()) >= dueBefore ? undefined : 'wake-up';
    };
  };
}

/** Wakes every waiting process. Each reads the state of its jobs, which takes microseconds here. */
export const checkForWaiters: NotificationCheck = () => Promise.resolve(() => Promise.resolve('wake-up'));
