import { expected, isOptions, unknownKeys } from '../job/expectation.js';

export interface AssignOptions {
  /** Whether to take the job from another claim holder. Default true. */
  reassign?: boolean;
}

export function assignOptionProblems(given: AssignOptions): (string | undefined)[] {
  const { reassign } = isOptions(given) ? given : {};
  return [
    ...unknownKeys(given, ['reassign']),
    expected(reassign === undefined || typeof reassign === 'boolean', 'reassign to be true or false', reassign),
  ];
}
