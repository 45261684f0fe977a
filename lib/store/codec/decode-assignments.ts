import type { ContentCodec } from '../../job/codec/content-codec.js';
import { isEnvelope } from '../../job/codec/payload-codec.js';
import { hasCode, UndecodableContentError } from '../../job/errors.js';
import type { ClaimedJob } from '../../job/job.js';
import { andThen } from '../../common/maybe-promise.js';
import type { Assignment, ConsumerStore, PersonOutcome } from '../features/people/consumer-store.js';
import { encodeErrorOf } from './encode-completions.js';
import type { StoredContent } from './stored-content.js';

const RELEASE = (): PersonOutcome => ({ outcome: { kind: 'release' }, retentionMs: false });

/** Decodes the payloads of assigned jobs, and encodes the errors of those that fail. */
export function decodingConsumerStore(
  store: ConsumerStore,
  content: StoredContent,
  codec: ContentCodec,
): ConsumerStore {
  const decode = (assignment: Assignment) => decodeOrRelease(assignment, codec, store);
  const decodeAll = async (assignments: readonly Assignment[]) => {
    const decoded = await Promise.allSettled(assignments.map(decode));
    const failed = decoded.find((each) => each.status === 'rejected');
    const usable = decoded.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    if (failed && usable.length === 0) throw failed.reason;
    return usable;
  };
  return {
    ...store,
    splitClaim: async (split) => decodeAll(await store.splitClaim(split)),
    claimFromStage: async (request) => decodeAll(await store.claimFromStage(request)),
    assign: async (...args) => decode(await store.assign(...args)),
    end: async (id, holder, decide, transaction) => {
      let given: PersonOutcome | undefined;
      const decideEncoded = (job: ClaimedJob) =>
        andThen(decide(job), (decided) => {
          given = decided;
          return encodeErrorOf(decided, content, job);
        });
      const ended = await store.end(id, holder, decideEncoded, transaction);
      // The events of this process have the error as it is.
      return given?.outcome.kind === ended.outcome.kind ? { ...ended, outcome: given.outcome } : ended;
    },
    listUnassigned: async (...args) => content.decodeRecords(await store.listUnassigned(...args)),
    listAssigned: async (...args) => content.decodeRecords(await store.listAssigned(...args)),
    listInStage: async (...args) => content.decodeRecords(await store.listInStage(...args)),
  };
}

/**
 * A job whose payload cannot be decoded ends dead, like one with a malformed row. If a service of a codec is down, the job
 * returns to its queue, and the call rejects.
 */
async function decodeOrRelease(assignment: Assignment, codec: ContentCodec, store: ConsumerStore): Promise<Assignment> {
  const { job, claimId, isFresh } = assignment;
  const { queue, name, payload: stored, malformed } = job;
  if (malformed) return assignment;
  try {
    const text = await codec.decode(stored, { what: 'payload', queue, name });
    return isEnvelope(stored) ? { ...assignment, payload: JSON.parse(text) as unknown } : assignment;
  } catch (error) {
    if (hasCode(error, 'CONTENT_UNAVAILABLE')) {
      if (isFresh) await store.end(job.id, { token: claimId }, RELEASE);
      throw error;
    }
    return { ...assignment, job: { ...job, malformed: asUndecodable(error) }, payload: null };
  }
}

function asUndecodable(error: unknown): UndecodableContentError {
  if (error instanceof UndecodableContentError) return error;
  return new UndecodableContentError('payload', null, (error as Error).message, { cause: error });
}
