import { age } from '../../common/age.js';
import type { JobFacts } from './job-facts.js';
import type { ChangeOfPause, JobReason } from './job-reason.js';

type Described = Pick<JobFacts, 'nowMs'> & {
  readonly job: Pick<JobFacts['job'], 'id' | 'queue' | 'name'>;
};

/** The reason in words, with the way out. */
export function describeReason(reason: JobReason, { job, nowMs }: Described): string {
  const { id, queue, name } = job;
  const until = (date: Date) => `until ${whenOf(date, nowMs)}`;
  switch (reason.reason) {
    case 'malformed':
      return `Column ${reason.column} of its row is malformed: ${reason.problem}. The worker that claims it makes it dead.`;
    case 'no-worker':
      return describeNoWorker(reason, queue);
    case 'no-handler':
      return `This process has no handler for jobs named "${name}" of queue "${queue}", and puts them off for other processes. Add @JobHandler('${name}').`;
    case 'queue-paused':
      return `Queue "${queue}" is paused${pauseOf(reason)}. End the pause with admin.resume('${queue}') or \`nestjs-sql-queue resume ${queue}\`.`;
    case 'group-paused':
      return `Group "${reason.group}" is paused${pauseOf(reason)}. End the pause with admin.group('${queue}', '${reason.group}').resume().`;
    case 'queue-disabled':
      return reason.enabled === false
        ? `Queue "${queue}" has enabled: false. admin.configure('${queue}', { enabled: true }) changes it.`
        : `Queue "${queue}" runs jobs from ${reason.enabled.from} to ${reason.enabled.to} (${reason.enabled.tz ?? 'UTC'}) only.`;
    case 'queue-rests':
      return `Queue "${queue}" rests ${until(reason.until)}. admin.limit('${queue}', { rest: false }) ends the rest.`;
    case 'limit-reached':
      return `The limit of queue "${queue}" is reached: ${reason.running} of ${reason.limit} jobs run, such as ${idList(reason.jobIds)}.`;
    case 'rate-reached':
      return `The rate of queue "${queue}", ${reason.limit} jobs per ${age(reason.perMs)}, is used up ${until(reason.until)}.`;
    case 'group-rests':
      return `Group "${reason.group}" rests ${until(reason.until)}. admin.group('${queue}', '${reason.group}').rest(false) ends the rest.`;
    case 'group-busy': {
      const limit = reason.limit === null ? '' : ` of at most ${reason.limit}`;
      return `Group "${reason.group}" is busy with ${idList(reason.jobIds)}${limit}.`;
    }
    case 'group-rate-reached':
      return `The rate of group "${reason.group}", ${reason.limit} jobs per ${age(reason.perMs)}, is used up ${until(reason.until)}.`;
    case 'blocked': {
      const needs = reason.needs.map((needed) => `#${needed.id} (${needed.queue}, ${needed.state})`).join(', ');
      return `It is blocked by ${needs || 'jobs that have just ended'}${reason.more ? ' and others' : ''}. Explain these jobs.`;
    }
    case 'waits-for-signal':
      return `It waits for the signal "${reason.name}"${reason.key === null ? '' : ` with the key ${JSON.stringify(reason.key)}`} ${until(reason.until)}.`;
    case 'sleeps':
      return `It sleeps in its step "${reason.step}" ${until(reason.until)}.`;
    case 'scheduled':
      return `It is due at ${whenOf(reason.at, nowMs)}${CAUSES[reason.cause](reason.attempt)}. admin.promote(${id}) makes it due now.`;
    case 'due':
      return `It has been due since ${whenOf(reason.since, nowMs)}. A worker makes it waiting with its next poll.`;
    case 'staged':
      return `It waits in the stage "${reason.stage}" for people. consumer.claim('${queue}', { stage: '${reason.stage}' }) claims it.`;
    case 'clock-differs':
      return `The clock of the database is ${age(Math.abs(reason.aheadMs))} ${reason.aheadMs > 0 ? 'ahead of' : 'behind'} the clock of this process, and it decides which jobs are due. Synchronize both with NTP.`;
    case 'behind':
      return `It waits behind ${reason.jobs}${reason.atLeast ? ' or more' : ''} job${reason.jobs === 1 ? '' : 's'} that are more urgent or were enqueued before.`;
    case 'next':
      return 'Nothing holds it up: a worker claims it when it has a free slot, at the latest with its next poll.';
    case 'running':
      return describeRunning(reason, nowMs);
    case 'cancel-requested':
      return 'It is being cancelled: its worker aborts the signal of the handler, which has yet to end.';
    case 'lease-expired':
      return `Its lease has expired at ${whenOf(reason.since, nowMs)}: its worker has died or stands still. Another worker of the queue rescues the job within seconds.`;
    case 'assigned': {
      const holder = reason.owner === null ? 'the bearer of its token' : `owner "${reason.owner}"`;
      const snoozed = reason.snoozedUntil ? `, who has put it off ${until(reason.snoozedUntil)}` : '';
      return `It is held by ${holder} since ${whenOf(reason.since, nowMs)}${snoozed}, with a lease ${until(reason.leaseUntil)}. admin.release(${id}) takes it away.`;
    }
    case 'ended': {
      const error = reason.error ? `: ${reason.error.code ?? reason.error.name}: ${reason.error.message}` : '';
      const wayOut = reason.state === 'completed' ? '' : ` admin.retry(${id}) starts it anew.`;
      return `It has ended ${reason.state} at ${whenOf(reason.at, nowMs)}${error}${/[.!?]$/.test(error) ? '' : '.'}${wayOut}`;
    }
  }
}

const CAUSES: Readonly<Record<'delay' | 'retry' | 'snooze', (attempt: number) => string>> = {
  delay: () => '',
  retry: (attempt) => `, the backoff after attempt ${attempt}, which failed`,
  snooze: () => ', because it was put off',
};

type Of<Name extends JobReason['reason']> = Extract<JobReason, { reason: Name }>;

function describeNoWorker({ excludedBy, here, suggestion }: Of<'no-worker'>, queue: string): string {
  const wayOut = suggestion === null ? `Start a process with @QueueProcessor('${queue}').` : '';
  const none = `No worker serves queue "${queue}"${suggestion === null ? '.' : `, did you mean "${suggestion}"?`}`;
  if (here === 'not-running')
    return `${none} This process has a handler for it and runs no worker (\`worker: false\`, or no \`runner.start()\`).`;
  if (here === 'excluded' || excludedBy > 0)
    return `${none} ${excludedBy > 0 ? `${excludedBy} running process${excludedBy === 1 ? '' : 'es'}` : 'This process'} with a handler for it excludes it by \`worker.queues\`.`;
  return `${none} ${wayOut}`.trimEnd();
}

function describeRunning({ worker, since, leaseUntil, isStarted }: Of<'running'>, nowMs: number): string {
  const process = 'host' in worker ? `process ${worker.pid} on ${worker.host}` : `worker ${worker.id}`;
  const lease = leaseUntil === null ? '' : `, with a lease until ${whenOf(leaseUntil, nowMs)}`;
  if (isStarted) return `It runs in ${process} since ${whenOf(since, nowMs)}${lease}.`;
  return `It has been claimed by ${process} at ${whenOf(since, nowMs)}${lease}, and waits there for a free slot.`;
}

function pauseOf({ since, by }: ChangeOfPause): string {
  return `${since ? ` since ${since.toISOString()}` : ''}${by === null ? '' : ` by ${by}`}`;
}

function idList(ids: readonly number[]): string {
  return ids.map((id) => `#${id}`).join(', ') || 'jobs that have just ended';
}

function whenOf(date: Date, nowMs: number): string {
  const ms = date.getTime() - nowMs;
  return `${date.toISOString()} (${ms >= 0 ? `in ${age(ms)}` : `${age(-ms)} ago`})`;
}
