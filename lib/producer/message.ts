import { resolveEnqueueOptions, type EnqueueOptions } from '../job/enqueue-options.js';
import { InvalidOptionsError, PayloadInvalidError } from '../job/errors.js';
import { expected, isOptions } from '../job/expectation.js';
import { nameProblem } from '../job/job-names.js';
import { encodeJson } from '../job/json.js';
import { TOPIC_HEADER } from '../job/topics.js';

/**
 * Checks a message before it is known who gets copies, so that what is wrong with it does not depend on that; answers the
 * options of its copies.
 */
export function resolveMessage<Options extends EnqueueOptions>(topic: string, payload: unknown, given: Options) {
  InvalidOptionsError.throwIfAny('Invalid topic', [nameProblem('topic', topic)]);
  const where = `Cannot publish "${topic}"`;
  InvalidOptionsError.throwIfAny(where, [expected(isOptions(given), 'options to be an object', given)]);
  resolveEnqueueOptions(topic, given, ['manager'], where);
  InvalidOptionsError.throwIfAny(where, [
    expected(
      !Object.hasOwn(given.headers ?? {}, TOPIC_HEADER),
      `no header "${TOPIC_HEADER}", in which each copy has its topic`,
      given.headers?.[TOPIC_HEADER],
    ),
  ]);
  const encoded = encodeJson(payload);
  if ('problem' in encoded) throw new PayloadInvalidError(topic, encoded.problem, { of: 'topic' });
  return { ...given, headers: { ...given.headers, [TOPIC_HEADER]: topic } };
}
