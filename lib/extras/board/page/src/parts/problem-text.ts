import type { Problem } from '../answers.js';

type Rule = Problem['rule'];

const TITLES: Readonly<Record<Rule, string>> = {
  'no-worker': 'No worker',
  failing: 'Attempts fail',
  'lapsed-claims': 'Jobs of a lost worker',
  'schedule-late': 'Schedules are late',
  behind: 'Behind',
  paused: 'Paused with waiting jobs',
  'groups-blocked': 'Groups start no jobs',
  'dead-jobs': 'Jobs die',
  'silent-worker': 'Silent worker',
};

/** A newer server may have further rules. */
export const titleOf = ({ rule, by }: Problem): string =>
  by === undefined ? (TITLES[rule] ?? rule) : `Paused by ${by}`;

/** The state of a queue in its list, in a word or two. */
export const wordOf = ({ rule }: Problem): string =>
  (TITLES[rule] ?? rule).toLowerCase().replace(' with waiting jobs', '');

/** The problems of a queue, the most urgent one first. */
export const problemsOf = (problems: readonly Problem[] | undefined, queue: string): readonly Problem[] =>
  (problems ?? []).filter((one) => one.queue === queue);

export const keyOf = ({ rule, queue, message }: Problem): string => `${rule} ${queue ?? message}`;

export const ageOf = ({ since }: Problem, nowMs: number): number | null =>
  since === null ? null : Math.max(0, nowMs - Date.parse(since));
