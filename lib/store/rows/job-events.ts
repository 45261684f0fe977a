import type { ClaimedJob } from '../../job/job.js';
import { eventsOf } from '../../job/outcome.js';
import type { JobEventName } from '../../job/queue-event.js';
import type { Completion } from './completion.js';
import type { JobEvent, JobEventSource } from '../core/statement.js';

export type EventJob = Pick<ClaimedJob, 'id' | 'queue' | 'name'> & Partial<Pick<ClaimedJob, 'attempt'>>;

/** @param owner the owner that now holds the jobs */
export function jobEventsOf(event: JobEventName, jobs: readonly EventJob[], owner?: string): JobEventSource {
  return (isRecorded) =>
    jobs
      .filter(({ queue }) => isRecorded(queue))
      .map(({ id, queue, name, attempt = 0 }) => ({
        event,
        queue,
        jobId: Number(id),
        name,
        attempt,
        owner: owner ?? null,
      }));
}

/** As the listeners in the process of the worker receive them. */
export function completionEvents(completions: readonly Completion[]): JobEventSource {
  return (isRecorded) => completions.filter(({ job }) => isRecorded(job.queue)).flatMap(eventsOfCompletion);
}

export function rescueEvents(completions: readonly Completion[]): JobEventSource {
  return (isRecorded) => completions.filter(({ job }) => isRecorded(job.queue)).flatMap(eventsOfRescue);
}

function eventsOfCompletion(completion: Completion): JobEvent[] {
  const { outcome, ranMs } = completion;
  const result = outcome.kind === 'complete' ? { result: outcome.result } : {};
  return eventsOf(outcome).map((event) => ({ ...eventFieldsOf(completion), ...event, ...result, ranMs }));
}

function eventsOfRescue(completion: Completion): JobEvent[] {
  const { outcome } = completion;
  const fields = { ...eventFieldsOf(completion), ...('error' in outcome && { error: outcome.error }) };
  const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
  const rescuedEvent: JobEvent = { ...fields, event: 'rescued', delayMs };
  if (outcome.kind === 'dead') return [rescuedEvent, { ...fields, event: 'dead' }];
  return outcome.kind === 'cancel' ? [rescuedEvent, { ...fields, event: 'cancelled' }] : [rescuedEvent];
}

function eventFieldsOf({ job: { id, queue, name, attempt }, owner }: Completion) {
  return { queue, jobId: id, name, attempt, owner: owner ?? null };
}
