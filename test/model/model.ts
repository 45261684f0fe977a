import type { ClaimedJob } from '../../lib/job/job.js';
import type { Op } from './script.js';

/** A condition that began, and holds until a verb that ends it begins. */
interface Rule<Value> {
  readonly value: Value;
  /** The command after which it held. */
  readonly since: number;
}

/** What the commands have told about a job. `undefined`: nothing keeps it from running. */
export class ModelJob {
  notBefore: Rule<number> | undefined;
  /** The key of the signal for which its last run waits. */
  waitsFor: string | undefined;
  /** Whether its last run waits for a signal, also if that signal was sent. */
  isWaiting = false;
  /** The jobs that must end before it runs. */
  needs: Set<number> = new Set();
  /** The claim that has it. */
  run: { readonly actor: number; readonly since: number; readonly begun: number; leaseUntil: number } | undefined;
  hasEnded: Rule<string> | undefined;
  /** A run of it has begun whose outcome no answer has told. */
  mayHaveEnded = false;
  /** The latest end of the last lease, which a dead actor does not renew. */
  leaseUntil = 0;
  /** An administrator has started it anew after its end. */
  isReplayed = false;
  /** The last command that has changed it. */
  touchedAt = 0;
  /** The last command that may have let it run. */
  #freedAt = 0;
  /** The last command that may have started it anew after its end. */
  #revivedAt = 0;

  constructor(
    readonly id: number,
    public queue: string,
    public group: string,
    public v: number,
    public script: readonly Op[],
    public key: string | undefined,
  ) {}

  touch(at: number): void {
    this.touchedAt = at;
  }

  /** A verb begins that may let it run. */
  free(at: number): void {
    this.touchedAt = at;
    this.notBefore = undefined;
    this.waitsFor = undefined;
    this.#freedAt = at;
  }

  /** A verb begins that may start it anew after its end. */
  revive(at: number): void {
    this.free(at);
    this.hasEnded = undefined;
    this.#revivedAt = at;
  }

  /** A verb that began with command `begun` has ended, and keeps the job from running before a time. */
  restrict(notBefore: number, begun: number, now: number): void {
    if (this.#freedAt <= begun) this.notBefore = { value: notBefore, since: now };
  }

  end(outcome: string, begun: number, now: number): void {
    this.touchedAt = now;
    if (this.#revivedAt <= begun) this.hasEnded = { value: outcome, since: now };
  }
}

/** Something that has been limited or paused, with all values that it has had. */
export class Setting<Value> {
  readonly #values: { value: Value; from: number; until: number }[];

  constructor(first: Value) {
    this.#values = [{ value: first, from: 0, until: Infinity }];
  }

  /** Both values may hold between the beginning and the end of the change. */
  change(value: Value, begun: number, now: number): void {
    const last = this.#values.at(-1)!;
    last.until = now;
    this.#values.push({ value, from: begun, until: Infinity });
  }

  get last(): Value {
    return this.#values.at(-1)!.value;
  }

  /** The values that may have held at any time since a command. */
  since(command: number): Value[] {
    return this.#values.filter(({ until }) => until >= command).map(({ value }) => value);
  }
}

/**
 * The jobs of a history, and what forbids that they run. A verb that may let a job run counts from its beginning, one
 * that forbids it from its end: so a claim that overlaps with another command is a fault only if it is one for every
 * order of the two.
 */
export class Model {
  readonly jobs = new Map<number, ModelJob>();
  /** The number of the present command. */
  now = 0;
  readonly paused = new Map<string, Setting<boolean>>();
  readonly groupLimits = new Map<string, Setting<number>>();
  readonly queueLimits = new Map<string, Setting<number>>();
  /** The signals that were sent, or begin to be sent, with their last command. */
  readonly signals = new Map<string, number>();
  nextPayload = 1;

  /** @param toleranceMs how much real time the history may take */
  constructor(private readonly toleranceMs: number) {}

  /** The live jobs in the order of their ids; a command chooses one of them by its index. */
  at(index: number): ModelJob | undefined {
    const jobs = [...this.jobs.values()];
    return jobs[index % jobs.length];
  }

  isPaused(name: string): Setting<boolean> {
    return settingOf(this.paused, name, false);
  }

  limitOfGroup(queue: string, group: string): Setting<number> {
    return settingOf(this.groupLimits, `${queue} ${group}`, queue === 'turns' ? 1 : Infinity);
  }

  limitOfQueue(queue: string): Setting<number> {
    return settingOf(this.queueLimits, queue, Infinity);
  }

  /** A signal begins: it may wake those that wait for it, and no other job. */
  signal(key: string): void {
    this.signals.set(key, this.now);
    for (const job of this.jobs.values()) if (job.waitsFor === key) job.free(this.now);
  }

  /** The clock goes back: a worker may have promoted the jobs that were due before. */
  forgetDueTimes(nowMs: number): void {
    for (const job of this.jobs.values())
      if (job.notBefore && job.notBefore.value <= nowMs + this.toleranceMs) job.notBefore = undefined;
  }

  /** Why the claim, which began with command `begun`, must not have taken the jobs. */
  claimed(
    actor: number,
    jobs: readonly ClaimedJob[],
    begun: number,
    nowMs: number,
    lease: { readonly earliest: number; readonly latest: number },
  ): string[] {
    const problems: string[] = [];
    for (const { id, queue, group } of jobs) {
      const job = this.jobs.get(id);
      // A child, which its parent has enqueued in a run that the model has not seen end.
      if (!job) continue;
      problems.push(...this.#problemsOf(job, begun, nowMs));
      job.group = group ?? '';
      job.queue = queue;
      job.revive(this.now);
      job.isWaiting = false;
      job.mayHaveEnded = false;
      job.leaseUntil = lease.latest;
      job.run = { actor, since: this.now, begun, leaseUntil: lease.earliest };
    }
    for (const { id } of jobs) {
      const job = this.jobs.get(id);
      if (job) problems.push(...this.#tooMany(job, begun));
    }
    return [...new Set(problems)];
  }

  #problemsOf({ id, queue, group, notBefore, run, hasEnded, needs }: ModelJob, begun: number, nowMs: number): string[] {
    const problems: string[] = [];
    if (notBefore && notBefore.since < begun && notBefore.value > nowMs + this.toleranceMs)
      problems.push(`job ${id} was claimed ${Math.round((notBefore.value - nowMs) / 60_000)} minutes too early`);
    if (run && run.since < begun && run.leaseUntil > nowMs + this.toleranceMs)
      problems.push(`job ${id} was claimed although actor ${run.actor} runs it`);
    if (hasEnded && hasEnded.since < begun) problems.push(`job ${id} was claimed although it is ${hasEnded.value}`);
    const missing = [...needs].filter((needed) => this.#isUnfinished(this.jobs.get(needed), begun));
    if (missing.length > 0)
      problems.push(`job ${id} was claimed although it needs job ${missing.join(', ')}, which has not ended`);
    for (const name of [queue, `${queue} ${group}`])
      if (this.isPaused(name).since(begun).every(Boolean))
        problems.push(`job ${id} was claimed although ${name} is paused`);
    return problems;
  }

  #isUnfinished(job: ModelJob | undefined, begun: number): boolean {
    return job !== undefined && job.hasEnded === undefined && !job.mayHaveEnded && job.touchedAt < begun;
  }

  /** Whether the claim let more jobs of its group, or of its queue, run at once than any limit since its beginning. */
  #tooMany(job: ModelJob, begun: number): string[] {
    const running = [...this.jobs.values()].filter(({ run }) => run !== undefined);
    const of = (name: string, limit: Setting<number>, { length }: readonly ModelJob[]) => {
      const most = Math.max(...limit.since(begun));
      return length > most ? [`${length} jobs of ${name} run at once, the limit is ${most}`] : [];
    };
    const { queue, group } = job;
    const inQueue = running.filter((other) => other.queue === queue);
    const inGroup = inQueue.filter((other) => other.group === group);
    return [
      ...(group === '' ? [] : of(`group ${group} of ${queue}`, this.limitOfGroup(queue, group), inGroup)),
      ...of(queue, this.limitOfQueue(queue), inQueue),
    ];
  }
}

function settingOf<Value>(settings: Map<string, Setting<Value>>, name: string, first: Value): Setting<Value> {
  let setting = settings.get(name);
  if (!setting) settings.set(name, (setting = new Setting(first)));
  return setting;
}
