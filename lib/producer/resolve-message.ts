import { resolveEnqueueOptions, type EnqueueOptions } from '../job/enqueue-options.js';
import { InvalidOptionsError, PayloadInvalidError } from '../job/errors.js';
import { expected } from '../job/expectation.js';
import { nameProblem } from '../job/identifiers.js';
import { encodeJson } from '../job/json.js';
import { TOPIC_HEADER } from '../job/topics.js';
import type { InTransaction } from './enqueued-job.js';

/**
 * Checks a message before its subscribers are known, so that its errors do not depend on them. Returns the options of
 * its copies, with the topic as a header.
 */
export function resolveMessage(topic: string, payload: unknown, given: EnqueueOptions & InTransaction) {
  InvalidOptionsError.throwIfAny('Invalid topic', [nameProblem('topic', topic)]);
  const where = `Cannot publish "${topic}"`;
  resolveEnqueueOptions(topic, given, ['manager'], where);
  InvalidOptionsError.throwIfAny(where, [
    expected(
      !Object.hasOwn(given.headers ?? {}, TOPIC_HEADER),
      `no header "${TOPIC_HEADER}", which names the topic of each copy`,
      given.headers?.[TOPIC_HEADER],
    ),
  ]);
  const encoded = encodeJson(payload);
  if ('problem' in encoded) throw new PayloadInvalidError(topic, encoded.problem, { of: 'topic' });
  return { ...given, headers: { ...given.headers, [TOPIC_HEADER]: topic } };
}
