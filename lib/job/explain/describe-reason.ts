import { age } from '../../common/units.js';
import { isSilent, type JobFacts } from './job-facts.js';
import type { ChangeOfPause, JobReason } from './job-reason.js';

type Described = Pick<JobFacts, 'nowMs'> & {
  readonly job: Pick<JobFacts['job'], 'id' | 'queue' | 'name' | 'state'>;
};

/** The reason in words, with the way out. */
export function describeReason(reason: JobReason, about: Described): string {
  const describe = SENTENCES[reason.reason] as (reason: JobReason, about: Described) => string;
  return describe(reason, about);
}

type Of<Name extends JobReason['reason']> = Extract<JobReason, { reason: Name }>;
type Sentences = { readonly [Name in JobReason['reason']]: (reason: Of<Name>, about: Described) => string };

const SENTENCES: Sentences = {
  malformed: ({ column, problem }) =>
    `Column ${column} of its row is malformed: ${problem}. The worker that claims it makes it dead.`,
  expired: ({ since }, { nowMs }) =>
    `Its \`expiresIn\` passed at ${whenOf(since, nowMs)} without a start: the next claim cancels it.`,
  'no-worker': (reason, { job }) => describeNoWorker(reason, job.queue),
  'no-handler': (_, { job: { queue, name } }) =>
    `This process has no handler for jobs named "${name}" of queue "${queue}", and puts them off for other processes. Add ` +
    `@JobHandler('${name}').`,
  'queue-paused': (reason, { job: { queue } }) =>
    `Queue "${queue}" is paused${pauseOf(reason)}. End the pause with admin.resume('${queue}') or ` +
    `\`nestjs-sql-queue resume ${queue}\`.`,
  'group-paused': (reason, { job }) =>
    `Group "${reason.group}" is paused${pauseOf(reason)}. ${groupCall(job.queue, reason.group)}.resume() ends the pause.`,
  'queue-disabled': ({ enabled }, { job: { queue } }) =>
    enabled === false
      ? `Queue "${queue}" has enabled: false. admin.configure('${queue}', { enabled: true }) changes it.`
      : `Queue "${queue}" runs jobs from ${enabled.from} to ${enabled.to} (${enabled.tz ?? 'UTC'}) only.`,
  'paused-here': (_, { job: { queue } }) =>
    `This process has paused queue "${queue}", by its option \`paused\` or by runner.pause(). runner.resume('${queue}') ends ` +
    `the pause. Other processes may work the queue.`,
  'disabled-here': (_, { job: { queue } }) =>
    `The function \`enabled\` of queue "${queue}" has returned false in this process. Other processes may work the queue.`,
  'queue-rests': ({ until }, { job: { queue }, nowMs }) =>
    `Queue "${queue}" rests until ${whenOf(until, nowMs)}. admin.limit('${queue}', { rest: false }) ends the rest.`,
  'limit-reached': ({ running, limit, jobIds }, { job }) =>
    `The limit of queue "${job.queue}" is reached: ${running} of ${limit} jobs run, such as ${idList(jobIds)}.`,
  'rate-reached': ({ limit, perMs, until }, { job, nowMs }) =>
    `The rate of queue "${job.queue}", ${limit} jobs per ${age(perMs)}, is used up until ${whenOf(until, nowMs)}.`,
  'group-rests': ({ group, until }, { job, nowMs }) =>
    `Group "${group}" rests until ${whenOf(until, nowMs)}. ${groupCall(job.queue, group)}.rest(false) ends the rest.`,
  'group-busy': ({ group, limit, jobIds }) =>
    `Group "${group}" is busy with ${idList(jobIds)}${limit === null ? '' : ` of at most ${limit}`}.`,
  'group-rate-reached': ({ group, limit, perMs, until }, { nowMs }) =>
    `The rate of group "${group}", ${limit} jobs per ${age(perMs)}, is used up until ${whenOf(until, nowMs)}.`,
  blocked: ({ needs, more }) => {
    const jobs = needs.map((needed) => `#${needed.id} (${needed.queue}, ${needed.state})`).join(', ');
    return `It is blocked by ${jobs || JUST_ENDED}${more ? ' and others' : ''}. Explain these jobs.`;
  },
  'waits-for-signal': ({ name, key, until }, { nowMs }) => {
    const withKey = key === null ? '' : ` with the key ${JSON.stringify(key)}`;
    return `It waits for the signal "${name}"${withKey} until ${whenOf(until, nowMs)}.`;
  },
  sleeps: ({ step, until }, { nowMs }) => `It sleeps in its step "${step}" until ${whenOf(until, nowMs)}.`,
  scheduled: ({ at, cause, attempt }, { job, nowMs }) =>
    `It is due at ${whenOf(at, nowMs)}${CAUSES[cause](attempt)}. admin.promote(${job.id}) makes it due now.`,
  due: ({ since }, { nowMs }) =>
    `It has been due since ${whenOf(since, nowMs)}. The next poll of a worker makes it waiting${ALSO_CLAIM}.`,
  staged: ({ stage }, { job: { queue, state } }) =>
    `It ${state === 'scheduled' ? 'is' : 'waits'} in the stage "${stage}" for people. consumer.claim('${queue}', ` +
    `{ stage: '${stage}' }) claims it${state === 'scheduled' ? ' when it is due' : ''}.`,
  'for-people': (_, { job: { queue } }) =>
    `No worker serves queue "${queue}": consumer.claim('${queue}') claims its jobs, for people and other programs.`,
  'clock-differs': ({ aheadMs }) =>
    `The clock of the database is ${age(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of this ` +
    `process, and it decides which jobs are due. Synchronize both with NTP.`,
  behind: ({ jobs, atLeast, order }) =>
    `It waits behind ${jobs}${atLeast ? ' or more' : ''} job${jobs === 1 ? ' that is' : 's that are'} more urgent or ` +
    `${jobs === 1 ? 'was' : 'were'} enqueued ${order === 'lifo' ? 'after it' : 'before'}.`,
  next: () => 'Nothing holds it up: a worker claims it when it has a free slot, at the latest with its next poll.',
  running: (reason, { nowMs }) => describeRunning(reason, nowMs),
  'cancel-requested': () =>
    'It is being cancelled: its worker aborts the signal of the handler, which has yet to end. A rescue cancels it, too.',
  'lease-expired': ({ since }, { nowMs }) =>
    since === null
      ? 'Its lease has expired: a rescue has taken other jobs of its claim. The next one takes this job, unless its handler ' +
        'still runs or a transaction has locked it.'
      : `Its lease expired at ${whenOf(since, nowMs)}: its holder has died or stands still. ${RESCUE}${ALSO_CLAIM}.`,
  assigned: ({ owner, since, leaseUntil, snoozedUntil }, { job, nowMs }) => {
    const holder = owner === null ? 'the bearer of its token' : `owner "${owner}"`;
    const snoozed = snoozedUntil ? `, who has put it off until ${whenOf(snoozedUntil, nowMs)}` : '';
    const lease = leaseUntil ? `with a lease until ${whenOf(leaseUntil, nowMs)}` : 'until it is released';
    return `It is held by ${holder} since ${whenOf(since, nowMs)}${snoozed}, ${lease}. admin.release(${job.id}) takes it away.`;
  },
  ended: ({ state, at, error }, { job, nowMs }) => {
    const message = error ? `: ${error.code ?? error.name}: ${error.message}` : '';
    const wayOut = state === 'completed' ? '' : ` admin.retry(${job.id}) starts it anew.`;
    return `It has ended ${state} at ${whenOf(at, nowMs)}${message}${/[.!?]$/.test(message) ? '' : '.'}${wayOut}`;
  },
};

const RESCUE = 'Any running worker rescues the job';
const ALSO_CLAIM = ', and so does a consumer.claim that finds no other job';

const JUST_ENDED = 'jobs that have just ended';

const CAUSES: Readonly<Record<'delay' | 'retry' | 'snooze', (attempt: number) => string>> = {
  delay: () => '',
  retry: (attempt) => `, the backoff after attempt ${attempt}, which failed`,
  snooze: () => ', because it was put off',
};

function describeNoWorker({ excludedBy, here, suggestion }: Of<'no-worker'>, queue: string): string {
  const none = `No worker serves queue "${queue}"${suggestion === null ? '.' : `, did you mean "${suggestion}"?`}`;
  if (here === 'not-running')
    return `${none} This process has a handler for it and runs no worker (\`worker: false\`, or no \`runner.start()\`).`;
  if (here === 'excluded') return `${none} This process has a handler for it and excludes it by \`worker.queues\`.`;
  if (excludedBy === 1) return `${none} One process with a handler for it excludes it by \`worker.queues\`.`;
  if (excludedBy > 1) return `${none} ${excludedBy} processes with a handler for it exclude it by \`worker.queues\`.`;
  if (suggestion !== null) return none;
  return `${none} Start a process with @QueueProcessor('${queue}'), or take its jobs with consumer.claim('${queue}').`;
}

function describeRunning({ worker, since, leaseUntil, isStarted }: Of<'running'>, nowMs: number): string {
  const process = 'host' in worker ? `process ${worker.pid} on ${worker.host}` : `worker ${worker.id}`;
  const isExpired = leaseUntil !== null && leaseUntil.getTime() <= nowMs;
  if (isExpired || ('host' in worker && isSilent(worker.seenAt.getTime(), nowMs))) {
    const seen = 'host' in worker ? `, which was last seen at ${whenOf(worker.seenAt, nowMs)}` : '';
    const end =
      isExpired || leaseUntil === null ? '' : ` ${RESCUE} at the end of its lease, ${whenOf(leaseUntil, nowMs)}.`;
    return `It was ${isStarted ? 'started' : 'claimed'} at ${whenOf(since, nowMs)} by ${process}${seen}.${end}`;
  }
  const lease = leaseUntil === null ? '' : `, with a lease until ${whenOf(leaseUntil, nowMs)}`;
  if (isStarted) return `It runs in ${process} since ${whenOf(since, nowMs)}${lease}.`;
  return `It has been claimed by ${process} at ${whenOf(since, nowMs)}${lease}, and waits there for a free slot.`;
}

function groupCall(queue: string, group: string): string {
  return `admin.group('${queue}', '${group}')`;
}

function pauseOf({ since, by }: ChangeOfPause): string {
  return `${since ? ` since ${since.toISOString()}` : ''}${by === null ? '' : ` by ${by}`}`;
}

function idList(ids: readonly number[]): string {
  return ids.map((id) => `#${id}`).join(', ') || JUST_ENDED;
}

function whenOf(date: Date, nowMs: number): string {
  const ms = date.getTime() - nowMs;
  return `${date.toISOString()} (${ms >= 0 ? `in ${age(ms)}` : `${age(-ms)} ago`})`;
}
