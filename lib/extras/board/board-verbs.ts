/** Each changes jobs, queues, groups, flows or schedules. */
export const WRITE_VERBS = [
  'pause',
  'resume',
  'limit',
  'configure',
  'enqueue',
  'pause-group',
  'resume-group',
  'limit-group',
  'retry',
  'cancel',
  'promote',
  'remove',
  'release',
  'reschedule',
  'reprioritise',
  'update',
  'duplicate',
  'signal',
  'cancel-flow',
  'retry-flow',
  'create-schedule',
  'edit-schedule',
  'remove-schedule',
  'pause-schedule',
  'resume-schedule',
  'run-schedule',
] as const;

export type BoardWriteVerb = (typeof WRITE_VERBS)[number];

/**
 * An action on the board, as `can` decides about it. `read` shows lists, states, keys, owners and the names and messages of
 * errors. `read-payload` also shows payloads, headers, results, progress, log lines and stacks.
 */
export type BoardVerb = 'read' | 'read-payload' | BoardWriteVerb;

export function isWriteVerb(verb: string): verb is BoardWriteVerb {
  return (WRITE_VERBS as readonly string[]).includes(verb);
}
