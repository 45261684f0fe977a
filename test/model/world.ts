import { DataSource, type QueryRunner } from 'typeorm';
import { limitPages } from '../../lib/common/lists.js';
import { tableNames } from '../../lib/store/tables/table-names.js';
import type { TestConnection, TestServer } from '../support/servers.js';
import { Actor, LEASE_MS } from './actor.js';
import type { Hold } from './gate.js';
import { Model, ModelJob } from './model.js';
import { Ledger, WRITES, type Payload } from './script.js';

/** How much real time a history may take: the clock of the database goes on meanwhile. */
export const TOLERANCE_MS = 120_000;
// A call of a shared server may take this long before the world asks whether it waits for a lock.
const LOOK_AFTER_MS = 15;
const NEVER_ENDS_MS = 60_000;
// An actor whose call never ends must not keep the next history waiting.
const CLOSES_WITHIN_MS = 5_000;

// MariaDB refreshes its list of transactions only after 0.1 s without a query of it.
const LOOK_EVERY_MS = { mysql: LOOK_AFTER_MS, mariadb: 150, sqlite: LOOK_AFTER_MS };
const WAITING = {
  mysql: (threads: string) =>
    `SELECT COUNT(*) AS waiting FROM performance_schema.data_lock_waits w
     JOIN performance_schema.threads t ON t.thread_id = w.requesting_thread_id WHERE t.processlist_id IN (${threads})`,
  mariadb: (threads: string) =>
    `SELECT COUNT(*) AS waiting FROM information_schema.innodb_trx
     WHERE trx_state = 'LOCK WAIT' AND trx_mysql_thread_id IN (${threads})`,
};

const { schema: _, ...EMPTIED } = tableNames();
export const TABLES = tableNames();

/** A call of an actor that may not have ended. */
export interface Call {
  readonly label: string;
  readonly actor: number;
  readonly begun: number;
  /** Never waits for a row that an application has locked. */
  readonly mustNotWait: boolean;
  readonly done: Promise<void>;
  isDone: boolean;
}

interface LockedRow {
  readonly id: number;
  readonly queue: string;
  readonly group_key: string;
  readonly name: string;
}

/** One database, the actors on it, an application that locks rows, and the clock. */
export class World {
  readonly ledger = new Ledger();
  readonly model = new Model(TOLERANCE_MS);
  readonly problems: string[] = [];
  readonly #actors: (Actor | undefined)[] = [];
  readonly #calls = new Map<number, Call>();
  readonly #retired: Actor[] = [];
  #locks: QueryRunner | undefined;
  /** The rows that the application has locked. */
  readonly locked = new Set<string>();
  #skewMs = 0;
  #elapsedMs = 1_000_000;
  #lastJobId = 0;

  private constructor(
    readonly server: TestServer,
    private readonly connection: TestConnection,
    readonly dataSource: DataSource,
  ) {}

  static async open(
    server: TestServer,
    connection: TestConnection,
    dataSource: DataSource,
    pageSize: number,
  ): Promise<World> {
    limitPages(pageSize);
    await dataSource.transaction(async (manager) => {
      for (const table of [...Object.values(EMPTIED), WRITES]) await manager.query(`DELETE FROM ${table}`);
    });
    const world = new World(server, connection, dataSource);
    process.on('unhandledRejection', world.#onUnhandled);
    return world;
  }

  readonly #onUnhandled = (error: unknown) => {
    this.ledger.problem(`a promise was rejected that no caller handles, which ends the process: ${String(error)}`);
  };

  /** The time of the database. */
  get nowMs(): number {
    return Date.now() + this.#skewMs;
  }

  get isLocking(): boolean {
    return this.#locks !== undefined;
  }

  get isHolding(): boolean {
    return this.#actors.some((actor) => actor?.gate.isHolding);
  }

  async actor(index: number): Promise<Actor> {
    return (this.#actors[index] ??= await Actor.start({
      ...{ server: this.server.name, connection: this.connection, ledger: this.ledger },
      ...{ elapsedMs: () => this.#elapsedMs, skewMs: () => this.#skewMs },
    }));
  }

  /** The actors whose processes have started; one at least. */
  get running(): number[] {
    const started = [...this.#actors.keys()].filter((index) => this.#actors[index] !== undefined);
    return started.length === 0 ? [0] : started;
  }

  isBusy(index: number): boolean {
    return this.#calls.has(index);
  }

  /** Whether no other actor is in a call. */
  isAlone(index: number): boolean {
    return [...this.#calls.keys()].every((other) => other === index) && !this.isHolding;
  }

  heldBy(index: number): Actor['held'] {
    return this.#actors[index]?.held ?? [];
  }

  /**
   * Lets an actor do something. Returns when it has ended, when the gate holds its statement, or when it waits for another
   * transaction.
   */
  async call(
    index: number,
    label: string,
    act: (actor: Actor, begun: number, sinceMs: () => number) => Promise<void>,
    { hold, mustNotWait = false }: { hold?: Hold | number | undefined; mustNotWait?: boolean } = {},
  ): Promise<void> {
    const actor = await this.actor(index);
    const begun = this.model.now;
    const startMs = this.nowMs;
    // The earliest time at which the call may have written a row.
    const sinceMs = () => Math.min(startMs, this.nowMs);
    const held =
      hold === undefined
        ? new Promise<void>(() => undefined)
        : actor.gate.arm(typeof hold === 'number' ? { passes: hold } : hold);
    actor.clock.pauses = 0;
    const call: Call = {
      ...{ label, actor: index, begun, mustNotWait, isDone: false },
      done: act(actor, begun, sinceMs)
        .catch((error: unknown) => {
          if (!actor.gate.isKilled && !this.#mayGiveUp(error, begun))
            this.#problem(`${label} failed: ${String(error)}`, error);
        })
        .finally(() => {
          call.isDone = true;
          actor.gate.disarm();
          if (this.#calls.get(index) === call) this.#calls.delete(index);
        }),
    };
    this.#calls.set(index, call);
    await this.#settle(call, actor, held);
  }

  async #settle(call: Call, actor: Actor, held: Promise<void>): Promise<void> {
    const endsAt = performance.now() + NEVER_ENDS_MS;
    for (;;) {
      await Promise.race([call.done, held, sleep(LOOK_EVERY_MS[this.server.name])]);
      if (call.isDone || actor.gate.isHolding || actor.gate.isKilled) return;
      if (performance.now() > endsAt) return this.#problem(`${call.label} never ends`);
      if (call.mustNotWait && (await this.#isDying())) continue;
      if (!(await this.#isStuck(call, actor))) continue;
      if (call.mustNotWait && this.isAlone(call.actor))
        this.#problem(`${call.label} waits for a row that an application has locked`);
      return;
    }
  }

  /** A call that overlaps with another one may wait for its locks, and gives up in time. */
  #mayGiveUp(error: unknown, begun: number): boolean {
    return (error as { code?: string }).code === 'STORE_UNAVAILABLE' && begun !== this.model.now;
  }

  /** Whether the call waits for another transaction. */
  async #isStuck(call: Call, actor: Actor): Promise<boolean> {
    const others = [...this.#calls.values()].some((other) => other !== call);
    if (!others && !this.isLocking) return false;
    if (actor.clock.pauses > 20) return true;
    if (this.server.name === 'sqlite') return false;
    const threads = [0, ...actor.gate.threads].join(', ');
    const [row] = await this.dataSource.query<{ waiting: number }[]>(WAITING[this.server.name](threads));
    return Number(row!.waiting) > 0;
  }

  /** Whether the server has not yet noticed the death of a process, and keeps its locks. */
  async #isDying(): Promise<boolean> {
    const threads = this.#retired.flatMap(({ gate }) => [...gate.threads]).join(', ');
    if (threads === '') return false;
    const found = await this.sql(`SELECT id FROM information_schema.processlist WHERE id IN (${threads})`);
    return found.length > 0;
  }

  /** Lets a held statement go on. */
  async release(index: number): Promise<void> {
    const call = this.#calls.get(index);
    const actor = this.#actors[index];
    if (!call || !actor) return;
    actor.gate.disarm();
    await this.#settle(call, actor, new Promise(() => undefined));
  }

  /** The process of the actor dies, between two statements or within a call. Another one takes its place. */
  kill(index: number): void {
    const actor = this.#actors[index];
    if (!actor) return;
    actor.gate.kill();
    this.#retired.push(actor);
    this.#actors[index] = undefined;
    this.#calls.delete(index);
    for (const { job } of actor.held) this.model.jobs.get(job.id)?.touch(this.model.now);
  }

  /** An open transaction of the application locks rows. */
  async lock(table: 'jobs' | 'groups' | 'schedules', where: string): Promise<void> {
    if (this.server.name === 'sqlite' || this.#locks) return;
    const runner = this.dataSource.createQueryRunner();
    await runner.startTransaction('READ COMMITTED');
    this.#locks = runner;
    // Rows that an actor has locked stay with it.
    const rows = (await runner
      .query(`SELECT * FROM ${TABLES[table]} WHERE ${where} FOR UPDATE NOWAIT`)
      .catch(() => [])) as LockedRow[];
    if (rows.length === 0) return this.unlock();
    for (const { id, queue, group_key, name } of rows)
      this.locked.add(
        table === 'jobs' ? `job ${id}` : table === 'groups' ? `group ${queue} ${group_key}` : `schedule ${name}`,
      );
  }

  /** Whether the application may keep the outcome of a job waiting: it has locked the job, or a group. */
  mayKeep(id: number): boolean {
    return [...this.locked].some((row) => row === `job ${id}` || row.startsWith('group'));
  }

  async unlock(): Promise<void> {
    const runner = this.#locks;
    this.#locks = undefined;
    this.locked.clear();
    if (!runner) return;
    await runner.rollbackTransaction();
    await runner.release();
  }

  /** Time passes, for the database and for the processes, which renew their leases. */
  async advance(ms: number): Promise<void> {
    const step = LEASE_MS / 2;
    for (let left = ms; left > 0; left -= step) {
      this.#skewMs += Math.min(step, left);
      this.#elapsedMs += Math.min(step, left);
      for (const [index, actor] of this.#actors.entries()) {
        // The lease of an actor whose call waits may be renewed, or not: its claim may not have ended.
        if (!actor || actor.held.length === 0 || this.isBusy(index)) continue;
        await actor.heartbeat();
        for (const { job } of actor.held) this.#renew(job.id, index);
      }
    }
  }

  #renew(id: number, index: number): void {
    const job = this.model.jobs.get(id);
    const run = job?.run;
    if (job && run?.actor === index && run.leaseUntil > this.nowMs)
      job.leaseUntil = run.leaseUntil = this.nowMs + LEASE_MS;
  }

  /** The clock of the database jumps. */
  jump(ms: number): void {
    if (ms < 0) this.model.forgetDueTimes(this.nowMs);
    this.#skewMs += ms;
    // The rescuer shortens a lease that ends later than its length permits.
    for (const { run } of this.model.jobs.values())
      if (run) run.leaseUntil = Math.min(run.leaseUntil, this.nowMs + LEASE_MS);
  }

  /** Adds the jobs that handlers and schedules have enqueued, and the needs of a job. */
  async discover(parentId?: number): Promise<void> {
    const rows = await this.sql<{ id: number; queue: string; group_key: string; payload: string }>(
      `SELECT id, queue, group_key, payload FROM ${TABLES.jobs} WHERE id > ${this.#lastJobId} ORDER BY id`,
    );
    for (const { id, queue, group_key, payload } of rows) {
      this.#lastJobId = Number(id);
      if (this.model.jobs.has(Number(id))) continue;
      const { v, script } = JSON.parse(payload) as Payload;
      this.model.jobs.set(Number(id), new ModelJob(Number(id), queue, group_key, v, script, undefined));
    }
    if (parentId === undefined) return;
    const edges = await this.sql<{ needs: number }>(`SELECT needs FROM ${TABLES.edges} WHERE job_id = ${parentId}`);
    const parent = this.model.jobs.get(parentId);
    if (parent) parent.needs = new Set(edges.map(({ needs }) => Number(needs)));
  }

  sql<Row>(text: string): Promise<Row[]> {
    return this.dataSource.query<Row[]>(text);
  }

  problem(text: string): void {
    this.#problem(text);
  }

  #problem(text: string, error?: unknown): void {
    if (process.env.SQL_QUEUE_MODEL_DEBUG && error) console.error(error);
    if (!this.problems.includes(text)) this.problems.push(text);
  }

  /** All held statements go on, and their calls end or wait for the application. */
  async releaseAll(): Promise<void> {
    for (const index of [...this.#calls.keys()]) await this.release(index);
  }

  /** All held statements go on, and all calls end. */
  async finishCalls(): Promise<void> {
    for (const actor of this.#actors) actor?.gate.disarm();
    for (const call of [...this.#calls.values()])
      await Promise.race([
        call.done,
        sleep(NEVER_ENDS_MS).then(() => call.isDone || this.#problem(`${call.label} never ends`)),
      ]);
  }

  /** Throws if the history has shown a fault so far. */
  check(): void {
    const problems = [...this.problems, ...this.ledger.problems];
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }

  async close(): Promise<void> {
    limitPages(Infinity);
    await this.unlock();
    for (const actor of this.#actors) actor?.gate.disarm();
    const calls = [...this.#calls.values()].map(({ done }) => done);
    await Promise.race([Promise.all(calls), sleep(CLOSES_WITHIN_MS)]);
    for (const actor of [...this.#retired, ...this.#actors])
      await Promise.race([actor?.close(), sleep(CLOSES_WITHIN_MS)]);
    process.off('unhandledRejection', this.#onUnhandled);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
