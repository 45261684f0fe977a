import type { CallerTransaction } from '../store/verbs/job-store.js';
import type { EndedAssignment } from '../store/features/people/consumer-store.js';
import type { ConsumerParts } from './consumer-parts.js';

interface Effects {
  /** The value with which the holder completed the job. */
  readonly result?: unknown;
  readonly keepsOwner?: boolean;
}

/** The effects of an ended assignment follow the commit of the caller's transaction, or that of the library. */
export async function withEffects(
  { jobs, store, ended: emitOutcome }: Pick<ConsumerParts, 'jobs' | 'store' | 'ended'>,
  ending: Promise<EndedAssignment>,
  manager: CallerTransaction | undefined,
  { result, keepsOwner = false }: Effects = {},
): Promise<EndedAssignment> {
  const ended = await ending;
  const { job, outcome, heldMs, owner } = ended;
  const act = () => emitOutcome(job, outcome, result, keepsOwner ? null : heldMs, owner);
  if (manager === undefined) act();
  else jobs.afterCommit(manager, () => void store.onCommitted(job).then(act));
  return ended;
}
