import { eventsOf } from '../../job/outcome.js';
import type { ChangeName } from '../../job/queue-event.js';
import type { Settlement } from '../job-store.js';
import type { Change, Changes } from './statement.js';

/** A job as the tables name it. */
export interface ChangedJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly attempt?: number;
}

/**
 * The same became of all of these jobs.
 *
 * @param owner who holds them now
 */
export function changesOf(event: ChangeName, jobs: readonly ChangedJob[], owner?: string): Changes {
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

/** What runs came to, as the listeners of the process that ran them are told. */
export function settled(settlements: readonly Settlement[]): Changes {
  return (isRecorded) => settlements.filter(({ job }) => isRecorded(job.queue)).flatMap(changesOfRun);
}

/** What became of jobs that were taken from whoever held them and fell silent. */
export function rescued(settlements: readonly Settlement[]): Changes {
  return (isRecorded) => settlements.filter(({ job }) => isRecorded(job.queue)).flatMap(changesOfRescue);
}

function changesOfRun(settlement: Settlement): Change[] {
  const { outcome, ranMs } = settlement;
  const result = outcome.kind === 'complete' ? { result: outcome.result } : {};
  return eventsOf(outcome).map((told) => ({ ...about(settlement), ...told, ...result, ranMs }));
}

function changesOfRescue(settlement: Settlement): Change[] {
  const { outcome } = settlement;
  const error = 'error' in outcome ? { error: outcome.error } : {};
  const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
  const taken: Change = { ...about(settlement), ...error, event: 'rescued', delayMs };
  if (outcome.kind === 'dead') return [taken, { ...about(settlement), ...error, event: 'dead' }];
  return outcome.kind === 'cancel' ? [taken, { ...about(settlement), event: 'cancelled' }] : [taken];
}

function about({ job: { id, queue, name, attempt }, owner }: Settlement) {
  return { queue, jobId: id, name, attempt, owner: owner ?? null };
}
