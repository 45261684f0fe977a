import { age } from '../../common/units.js';
import { isName } from '../identifiers.js';
import { isEnabledAt, isPausedEverywhere } from '../settings/enabled.js';
import { attemptsOf, failingSinceMs, shareOf, type Attempts } from './attempts.js';
import type {
  AlikeGroups,
  LapsedClaims,
  LateSchedules,
  ProblemFacts,
  QueueFacts,
  SilentWorker,
  SuspectQueues,
} from './problem-facts.js';
import { PROBLEM_LIMITS, type ProblemAction, type QueueProblem } from './queue-problem.js';

const { behindMs, failingShare, failingAttempts, failingMinutes, deadShare, deadMinutes } = PROBLEM_LIMITS;

// A value within a tenth or so of the earlier one is noise.
const GROWTH = { share: 1.1, wait: 1.15 };
const MAX_SUSPECTS = 50;

/** The problems that the facts show: broken before attention, and earlier before later ones. */
export function findProblems(facts: ProblemFacts): QueueProblem[] {
  const failing = new Set([...facts.minutes.keys()].filter((queue) => failingProblem(queue, facts) !== undefined));
  const all = [
    ...facts.queues.flatMap((one) => [
      noWorkerProblem(one, facts),
      pausedProblem(one, facts),
      behindProblem(one, facts),
      groupsProblem(one, facts),
    ]),
    ...[...facts.minutes.keys()].map((queue) =>
      failing.has(queue) ? failingProblem(queue, facts) : deadJobsProblem(queue, facts),
    ),
    ...facts.lapsedClaims.map((one) => lapsedProblem(one, facts.nowMs)),
    ...facts.lateSchedules.map((one) => lateProblem(one, facts)),
    ...facts.silentWorkers.map((one) => silentProblem(one, facts.nowMs)),
  ];
  return all.filter((one) => one !== undefined).sort(byUrgency);
}

/** The queues about which the rules need further facts: of each kind those whose jobs wait longest, at most 50. */
export function suspectsOf(queues: readonly QueueFacts[]): SuspectQueues {
  const longest = [...queues].sort((a, b) => (b.oldestWaitingMs ?? 0) - (a.oldestWaitingMs ?? 0));
  const some = (isSuspect: (queue: QueueFacts) => boolean) => longest.filter(isSuspect).slice(0, MAX_SUSPECTS);
  const stopped = some(isPaused);
  return {
    unserved: namesOf(some(isUnserved)),
    paused: namesOf(stopped.filter(({ paused }) => paused)),
    disabled: namesOf(stopped.filter(({ paused }) => !paused)),
    behind: namesOf(some(isBehind)),
  };
}

const namesOf = (queues: readonly QueueFacts[]) => queues.map(({ queue }) => queue);

const isUnserved = (one: QueueFacts) => !isPaused(one) && one.workers === 0 && one.waiting.value > 0;

const isPaused = (one: QueueFacts) => isPausedEverywhere(one) && one.waiting.value > 0;

const isBehind = (one: QueueFacts) =>
  !isPaused(one) && one.workers > 0 && one.waiting.value > 0 && (one.oldestWaitingMs ?? 0) > behindMs;

function noWorkerProblem(one: QueueFacts, { consumed }: ProblemFacts): QueueProblem | undefined {
  const { queue } = one;
  if (!isUnserved(one) || consumed.has(queue)) return undefined;
  return {
    ...{ rule: 'no-worker', severity: 'broken', queue, since: oldestSince(one), isGettingWorse: true },
    message: `No worker serves queue "${queue}": ${waitingOf(one)}.`,
    actions: actionsOf(queue, ['workers'], ['list', queue, 'waiting']),
  };
}

function pausedProblem(one: QueueFacts, { pauses }: ProblemFacts): QueueProblem | undefined {
  const { queue, paused } = one;
  if (!isPaused(one)) return undefined;
  const { since = null, by = null } = pauses.get(queue) ?? {};
  const how = paused ? `is paused${by === null ? '' : ` by ${by}`}` : 'has `enabled: false`';
  return {
    ...{ rule: 'paused', severity: 'attention', queue, since, isGettingWorse: null },
    ...(paused && by !== null && { by }),
    message: `Queue "${queue}" ${how}: ${waitingOf(one)}.`,
    actions: actionsOf(queue, paused ? ['resume', queue] : ['set', queue, 'enabled=true']),
  };
}

function behindProblem(one: QueueFacts, facts: ProblemFacts): QueueProblem | undefined {
  const { queue, oldestWaitingMs, settings } = one;
  if (!isBehind(one) || !isEnabledAt(settings.enabled, facts.nowMs)) return undefined;
  const attempts = (from: number, to: number) => attemptsOf(facts.minutes.get(queue), facts.nowMs, from, to);
  const recent = attempts(0, failingMinutes);
  // Jobs that start now have waited about as long as the oldest one. A longer wait than earlier is a growing backlog.
  const earlierMs = attempts(failingMinutes + 1, 15).waits.quantile(0.5) ?? recent.waits.quantile(0.5);
  if (waitsForGroups(one, facts, recent)) return undefined;
  const isLonger = earlierMs === null || recent.ended === 0 || oldestWaitingMs! > GROWTH.wait * earlierMs;
  // The oldest job may be one of a paused group. Its wait does not tell whether the other jobs wait longer.
  const isUnknown = recent.ended > 0 && (facts.groups.get(queue)?.paused.count ?? 0) > 0;
  const isGettingWorse = isUnknown ? null : isLonger;
  return {
    ...{ rule: 'behind', severity: isGettingWorse ? 'broken' : 'attention', queue },
    ...{ since: oldestSince(one), isGettingWorse },
    message: `Queue "${queue}" is behind: ${waitingOf(one)}. ${paceOf(one, recent)}`,
    actions: actionsOf(queue, ['history', queue], ['list', queue, 'active'], ['workers']),
  };
}

/** Jobs start soon after they come, so only those of groups at rest wait for long: `groupsProblem` reports them. */
function waitsForGroups({ queue, oldestWaitingMs }: QueueFacts, facts: ProblemFacts, recent: Attempts): boolean {
  const longestMs = recent.waits.quantile(0.95);
  return facts.groups.has(queue) && longestMs !== null && longestMs < oldestWaitingMs! / 2;
}

function groupsProblem(one: QueueFacts, facts: ProblemFacts): QueueProblem | undefined {
  const { queue } = one;
  const atRest = facts.groups.get(queue);
  if (!atRest || !isBehind(one)) return undefined;
  const counts = [
    ...groupsText(atRest.blocked, 'blocked by a limit or a rest'),
    ...groupsText(atRest.paused, 'paused'),
  ];
  return {
    ...{ rule: 'groups-blocked', severity: 'attention', queue, since: oldestSince(one), isGettingWorse: null },
    message: `Queue "${queue}" has ${counts.join(' and ')}: ${waitingOf(one)}.`,
    actions: actionsOf(queue, ['groups', queue]),
  };
}

function groupsText({ count: groups, first }: AlikeGroups, state: string): string[] {
  if (groups === 0) return [];
  return [`${count(groups, 'group')} ${state} (${groups === 1 ? '' : 'such as '}"${first}")`];
}

function failingProblem(queue: string, { minutes, nowMs }: ProblemFacts): QueueProblem | undefined {
  const of = minutes.get(queue);
  const recent = attemptsOf(of, nowMs, 0, failingMinutes);
  const share = shareOf(recent.failed, recent.ended);
  if (recent.ended < failingAttempts || share < failingShare) return undefined;
  const before = attemptsOf(of, nowMs, failingMinutes + 1, 15);
  const earlierMs = before.waits.quantile(0.95);
  const isSlower = earlierMs !== null && recent.waits.quantile(0.95)! > GROWTH.wait * earlierMs;
  const isGettingWorse = share > GROWTH.share * shareOf(before.failed, before.ended) || isSlower;
  return {
    ...{ rule: 'failing', severity: 'broken', queue, since: new Date(failingSinceMs(of!, nowMs)), isGettingWorse },
    message: `${percent(share)} of the attempts of queue "${queue}" fail: ${recent.failed} of ${recent.ended} in ${failingMinutes} minutes.`,
    actions: actionsOf(queue, ['list', queue, 'dead', '--newest'], ['pause', queue], ['replay', queue]),
  };
}

function deadJobsProblem(queue: string, { minutes, nowMs }: ProblemFacts): QueueProblem | undefined {
  const of = minutes.get(queue);
  const { dead, completed } = attemptsOf(of, nowMs, 0, deadMinutes);
  const share = shareOf(dead, dead + completed);
  if (share <= deadShare) return undefined;
  const first = Math.min(...of!.flatMap((minute) => (minute.dead > 0 ? [minute.startsAtMs] : [])));
  const before = attemptsOf(of, nowMs, deadMinutes + 1, 2 * deadMinutes);
  return {
    ...{ rule: 'dead-jobs', severity: 'attention', queue, since: new Date(first) },
    isGettingWorse: share > GROWTH.share * shareOf(before.dead, before.dead + before.completed),
    message: `${percent(share)} of the jobs that end in queue "${queue}" are dead: ${count(dead, 'job')} in ${deadMinutes} minutes.`,
    actions: actionsOf(queue, ['list', queue, 'dead', '--newest'], ['replay', queue]),
  };
}

function lapsedProblem({ queue, claims, lapsedMs }: LapsedClaims, nowMs: number): QueueProblem {
  const leases = claims === 1 ? 'The lease of a claim' : `The leases of ${claims} claims`;
  return {
    ...{ rule: 'lapsed-claims', severity: 'broken', queue, since: new Date(nowMs - lapsedMs), isGettingWorse: null },
    message: `${leases} of queue "${queue}" ended ${age(lapsedMs)} ago, and no worker rescues the jobs.`,
    actions: actionsOf(queue, ['workers'], ['list', queue, 'active']),
  };
}

/** A worker of the queue that leaves a schedule from code alone is of a version without it, which may be intended. */
function lateProblem(
  { queue, count: late, fromApi, firstName, dueAtMs }: LateSchedules,
  facts: ProblemFacts,
): QueueProblem {
  const { workers = 0 } = facts.queues.find((one) => one.queue === queue) ?? {};
  const isUndeclared = fromApi === 0 && workers > 0;
  const [which, ticks, pronoun] =
    late === 1
      ? [`Schedule "${firstName}" of queue "${queue}" is late`, 'its tick', 'it']
      : [`${late} schedules of queue "${queue}" are late (such as "${firstName}")`, 'the first tick', 'them'];
  const reason = isUndeclared ? `the workers of the queue do not declare ${pronoun}` : `no worker runs ${pronoun}`;
  return {
    ...{ rule: 'schedule-late', severity: isUndeclared ? 'attention' : 'broken', queue },
    ...{ since: new Date(dueAtMs), isGettingWorse: null },
    message: `${which}: ${ticks} was due ${age(facts.nowMs - dueAtMs)} ago, and ${reason}.`,
    actions: actionsOf(queue, ['workers'], ['schedules']),
  };
}

function silentProblem({ id, host, pid, seenAtMs }: SilentWorker, nowMs: number): QueueProblem {
  return {
    ...{ rule: 'silent-worker', severity: 'attention', queue: null, isGettingWorse: null },
    since: new Date(seenAtMs),
    message: `Worker ${id} (process ${pid} of ${host}) has sent no heartbeat for ${age(nowMs - seenAtMs)}.`,
    actions: [{ command: 'workers', args: [] }],
  };
}

function byUrgency(a: QueueProblem, b: QueueProblem): number {
  if (a.severity !== b.severity) return a.severity === 'broken' ? -1 : 1;
  return (a.since?.getTime() ?? Infinity) - (b.since?.getTime() ?? Infinity) || 0;
}

function oldestSince({ sampledAt, oldestWaitingMs }: QueueFacts): Date | null {
  return oldestWaitingMs === null ? null : new Date(sampledAt.getTime() - oldestWaitingMs);
}

function waitingOf({ waiting, oldestWaitingMs }: QueueFacts): string {
  const jobs = waiting.atLeast ? `${waiting.value} or more jobs wait` : `${count(waiting.value, 'job')} wait`;
  const shown = waiting.value === 1 && !waiting.atLeast ? '1 job waits' : jobs;
  return oldestWaitingMs === null ? shown : `${shown}, the oldest for ${age(oldestWaitingMs)}`;
}

function paceOf({ waiting }: QueueFacts, { completed, minutes }: Attempts): string {
  if (completed === 0) return `None was completed in the last ${failingMinutes} minutes.`;
  const perMinute = completed / minutes;
  const pace = `${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} a minute are completed`;
  return waiting.atLeast ? `${pace}.` : `${pace}: it takes ${age((waiting.value / perMinute) * 60_000)} to catch up.`;
}

/** The commands, unless they would refuse the name of the queue. */
function actionsOf(queue: string, ...calls: readonly (readonly [command: string, ...args: string[]])[]) {
  if (!isName(queue)) return [];
  return calls.map(([command, ...args]): ProblemAction => ({ command, args }));
}

const percent = (share: number) => `${Math.round(100 * share)} %`;

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
