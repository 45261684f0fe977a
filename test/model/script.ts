import type { EntityManager } from 'typeorm';
import type { JobContext } from '../../lib/worker/run/job-context.js';

/**
 * What a handler does, in order. `fail` and `snooze` do so at the first visit, `flaky` and `doze` at the second one. `forget…` calls a method without `await`, and `late` begins a step after the
 * run.
 */
export const OPS = [
  ...([
    'step',
    'tx',
    'sleep',
    'wait',
    'fan',
    'children',
    'fail',
    'flaky',
    'snooze',
    'doze',
    'log',
    'transaction',
  ] as const),
  ...(['forgetSleep', 'forgetWait', 'forgetFan', 'forgetTx', 'late'] as const),
];
export type Op = (typeof OPS)[number];

export interface Payload {
  /** The number of the payload: each enqueue and each replacement has another one. */
  readonly v: number;
  readonly script: readonly Op[];
  /** How many jobs of its flow it needs. */
  readonly needs?: number;
}

export const SIGNAL = 'go';
export const KEYS = ['k0', 'k1'];

/** The key of the signal that a handler of this payload waits for. */
export const signalOf = (v: number) => KEYS[v % KEYS.length]!;

export const CHILDREN = 'kids';
export const FORGOTTEN: readonly Op[] = ['forgetSleep', 'forgetWait', 'forgetFan', 'forgetTx', 'late'];

/** Rows that handlers write in their transactions. */
export const WRITES = 'model_writes';

/** Records the work of all handlers, and what they must not have seen. */
export class Ledger {
  readonly problems: string[] = [];
  /** The steps that were stored: job, payload and step. */
  readonly #stored = new Set<string>();
  /** The steps whose work has begun. */
  readonly #begun = new Set<string>();
  readonly #children = new Map<string, string>();
  readonly #visits = new Map<string, number>();

  problem(text: string): void {
    if (!this.problems.includes(text)) this.problems.push(text);
  }

  /**
   * A job whose handler shall work everything again.
   *
   * @param mayHaveBegun a run of it may have done so already
   */
  forget(jobId: number, mayHaveBegun: boolean): void {
    for (const set of [this.#stored, this.#visits, ...(mayHaveBegun ? [] : [this.#begun])])
      for (const key of [...set.keys()]) if (key.startsWith(`${jobId} `)) set.delete(key);
  }

  /** A job that may read other ends of its children than before. */
  forgetChildren(jobId: number): void {
    for (const key of [...this.#children.keys()]) if (key.startsWith(`${jobId} `)) this.#children.delete(key);
  }

  /** How often a run of this payload has come to this part of its script. */
  visit(job: JobContext<Payload>, index: number): number {
    const key = `${job.id} ${job.payload.v} ${index}`;
    const visits = (this.#visits.get(key) ?? 0) + 1;
    this.#visits.set(key, visits);
    return visits;
  }

  async step(job: JobContext<Payload>, name: string, call: (work: () => number) => Promise<number>): Promise<void> {
    const key = `${job.id} ${job.payload.v} ${name}`;
    let wasStored = false;
    const answer = await call(() => {
      wasStored = this.#stored.has(key);
      this.#begun.add(key);
      return job.payload.v;
    });
    // A worker that has lost the job may begin the work, but must not store it.
    if (wasStored) this.problem(`step ${name} of job ${job.id} was stored again`);
    if (answer !== job.payload.v)
      this.problem(`step ${name} of job ${job.id} with payload ${job.payload.v} answered that of payload ${answer}`);
    if (!this.#begun.has(key)) this.problem(`step ${name} of job ${job.id} has answered although its work never began`);
    this.#stored.add(key);
  }

  children(job: JobContext<Payload>, index: number, expected: number, children: readonly SeenChild[]): void {
    const where = `children() of job ${job.id} after ${expected} children`;
    if (children.length !== expected) this.problem(`${where} answered ${children.length}`);
    for (const { state } of children) if (state === null) this.problem(`${where} answered a child that has not ended`);
    const key = `${job.id} ${job.payload.v} ${index}`;
    const answer = JSON.stringify(children);
    const before = this.#children.get(key);
    if (before !== undefined && before !== answer) this.problem(`${where} answered ${answer}, before ${before}`);
    this.#children.set(key, answer);
  }
}

interface SeenChild {
  readonly id: number;
  readonly state: string | null;
}

/** The handler of all queues. `late` receives what shall happen after the run. */
export async function play(
  job: JobContext<Payload>,
  ledger: Ledger,
  late: (act: () => Promise<void>) => void,
): Promise<number> {
  const { script, v, needs = 0 } = job.payload;
  let fannedOut = needs;
  for (const [index, op] of script.entries()) {
    switch (op) {
      case 'step':
        await ledger.step(job, `s${index}`, (work) => job.step(`s${index}`, work));
        break;
      case 'tx':
        await ledger.step(job, `t${index}`, (work) =>
          job.step(`t${index}`, { transaction: true }, async (manager) => {
            await write(manager, job, index);
            return work();
          }),
        );
        break;
      case 'sleep':
        await job.sleep(`z${index}`, '10m');
        break;
      case 'wait':
        await job.waitFor(SIGNAL, { key: signalOf(v), timeout: '5h' });
        break;
      case 'fan': {
        const count = 1 + (v % 3);
        await job.fanOut(CHILDREN, children(v, count), { onFailure: 'run' });
        fannedOut += count;
        await readChildren(job, ledger, index, fannedOut);
        break;
      }
      case 'children':
        await readChildren(job, ledger, index, fannedOut);
        break;
      case 'fail':
      case 'flaky':
        if (ledger.visit(job, index) === (op === 'fail' ? 1 : 2)) throw new Error('The script fails once.');
        break;
      case 'snooze':
      case 'doze':
        if (ledger.visit(job, index) === (op === 'snooze' ? 1 : 2)) job.snooze('10m');
        break;
      case 'log':
        job.log(`payload ${v}`);
        break;
      case 'transaction':
        return await job.transaction(async (manager) => {
          await write(manager, job, index);
          return v;
        });
      case 'forgetSleep':
        void job.sleep(`z${index}`, '10m');
        return v;
      case 'forgetWait':
        void job.waitFor(SIGNAL, { key: 'never', timeout: '30m' });
        return v;
      case 'forgetFan':
        void job.fanOut(CHILDREN, children(v, 1), { onFailure: 'run' });
        return v;
      case 'forgetTx':
        void job.transaction((manager) => write(manager, job, index));
        return v;
      case 'late':
        late(async () => {
          const name = `l${index}`;
          await job
            .step(name, () => ledger.problem(`step ${name} of job ${job.id} began after its run`))
            .catch(() => 0);
        });
        return v;
    }
  }
  return v;
}

function children(v: number, count: number): Payload[] {
  return Array.from({ length: count }, (_, index) => ({ v, script: index === 1 ? ['fail'] : [] }));
}

async function readChildren(job: JobContext<Payload>, ledger: Ledger, index: number, expected: number): Promise<void> {
  const seen: SeenChild[] = [];
  for await (const { id, state } of job.children()) seen.push({ id, state });
  ledger.children(job, index, expected, seen);
}

async function write(
  manager: EntityManager,
  { id, payload: { v } }: JobContext<Payload>,
  index: number,
): Promise<void> {
  await manager.query(`INSERT INTO ${WRITES} (job_id, v, part) VALUES (${id}, ${v}, ${index})`);
}
