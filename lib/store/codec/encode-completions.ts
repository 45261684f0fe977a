import type { ClaimedJob } from '../../job/job.js';
import { andThen, type MaybePromise } from '../../common/maybe-promise.js';
import { JobsLockedError, type Completion, type CompletionBatch, type CompletionResult } from '../rows/completion.js';
import type { JobStore } from '../verbs/job-store.js';
import type { StoredContent } from './stored-content.js';

type Encode = (completion: Completion) => MaybePromise<Completion>;

/** Encodes the errors of attempts. Payloads and results are encoded before, so that calls with too large ones reject. */
export function encodingJobStore(store: JobStore, content: StoredContent): JobStore {
  const encoded = new WeakMap<Completion, MaybePromise<Completion>>();
  const encode: Encode = (completion) => {
    const known = encoded.get(completion) ?? encodeErrorOf(completion, content, completion.job);
    if (known !== completion) encoded.set(completion, known);
    return known;
  };
  return {
    ...store,
    prepareCompletion: (completion) => {
      const preparing = encode(completion);
      return preparing instanceof Promise ? preparing : undefined;
    },
    complete: (batch) => withEncodedErrors(batch, encode, (ready) => store.complete(ready)),
    completeAndClaim: (batch, request) =>
      withEncodedErrors(batch, encode, (ready) => store.completeAndClaim(ready, request)),
    completeWith: (work) =>
      store.completeWith(async (manager) => {
        const { value, completion } = await work(manager);
        return { value, completion: await encodeErrorOf(completion, content, completion.job) };
      }),
  };
}

/** Returns a promise only if a codec does. */
export function encodeErrorOf<Ended extends Pick<Completion, 'outcome' | 'timeoutMs'>>(
  ended: Ended,
  content: StoredContent,
  job: Pick<ClaimedJob, 'queue' | 'name'>,
): MaybePromise<Ended> {
  const { outcome, timeoutMs } = ended;
  if (!('error' in outcome) || !outcome.error) return ended;
  return andThen(content.encodeError(outcome.error, { ...job, timeoutMs }), (error) => ({
    ...ended,
    outcome: { ...outcome, error },
  }));
}

/** The caller compares the completions of the result with those that it has given. */
async function withEncodedErrors<Result extends CompletionResult>(
  batch: CompletionBatch,
  encode: Encode,
  write: (batch: CompletionBatch) => Promise<Result>,
): Promise<Result> {
  if (!batch.completions.some(({ outcome }) => 'error' in outcome && outcome.error)) return write(batch);
  // Together, because a codec may need its whole time for each.
  const completions = await Promise.all(batch.completions.map(async (completion) => encode(completion)));
  const given = new Map(completions.map((encoded, index) => [encoded, batch.completions[index]!]));
  const givenOf = (encoded: ReadonlySet<Completion>) => new Set([...encoded].map((each) => given.get(each)!));
  try {
    const result = await write({ ...batch, completions });
    return { ...result, lost: givenOf(result.lost), cancelled: givenOf(result.cancelled) };
  } catch (error) {
    throw error instanceof JobsLockedError ? new JobsLockedError(givenOf(error.completions)) : error;
  }
}
