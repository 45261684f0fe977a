import type { ComponentChildren } from 'preact';
import type { Diagnosis, Problem } from '../../answers.js';
import { isForbidden } from '../../api.js';
import { clock, duration, plural } from '../../format.js';
import { now } from '../../live/clock.js';
import {
  broken,
  failedChecks,
  isLoaded,
  isOld,
  isPartial,
  isPaused,
  problems,
  queues,
  sharedReading,
  updatedAt,
} from '../../live/live.js';
import { Icon } from '../../parts/icons.js';
import { ageOf } from '../../parts/problem-text.js';

interface Finding {
  readonly level: 'broken' | 'attention' | 'ok' | 'idle';
  readonly title: string;
  readonly rest?: string;
  readonly text: string;
  reload?(): void;
}

/** One sentence about all queues. The server decides which problems there are. */
export function Verdict({ aside }: { aside: ComponentChildren }) {
  const { level, title, rest, text, reload } = findingOf();
  return (
    <header class={`verdict v-${level}`}>
      <span class="verdict-icon">
        <Icon name={level} size={26} />
      </span>
      <div class="verdict-text">
        <h1 tabIndex={-1}>
          {title}
          {rest && <span class="soft">, {rest}</span>}
        </h1>
        <p>
          {text}{' '}
          {reload && (
            <button type="button" class="link" onClick={reload}>
              Try again
            </button>
          )}
        </p>
      </div>
      <div class="aside">{aside}</div>
    </header>
  );
}

function findingOf(): Finding {
  const all = problems.value;
  const before = all && all.length > 0 && { rest: `${plural(all.length, 'problem')} before that` };
  // Old numbers are never a good sign.
  if (isOld.value && isLoaded.value)
    return {
      ...{ level: 'attention', title: `The state is unknown since ${clock(updatedAt.value)}`, ...before },
      text: 'The numbers below are the last ones that arrived.',
    };
  if (isPaused.value && isLoaded.value)
    return {
      ...{ level: 'idle', title: `The state of ${clock(updatedAt.value)}`, ...before },
      text: 'The updates of this page are paused.',
    };
  const { error, reload } = sharedReading('problems');
  if (error)
    return {
      ...{ level: 'attention', title: 'The problems could not be read', ...before },
      ...{ text: error.text, ...(!isForbidden(error) && { reload }) },
    };
  if (!isLoaded.value || all === undefined)
    return { level: 'idle', title: 'Reading the queues', text: 'The numbers arrive in a moment.' };
  const checks = failedChecks.value;
  if (all.length + checks.length === 0) return healthy();
  return found(all, broken.value, checks);
}

function healthy(): Finding {
  const count = queues.value.length;
  if (count === 0 && isPartial.value)
    return { level: 'idle', title: 'The state is unknown', text: 'You have no right to read any of the queues.' };
  if (count === 0) return { level: 'ok', title: 'No queues yet', text: 'The first job creates its queue.' };
  const title = count === 1 ? 'The queue is healthy' : `All ${count} queues are healthy`;
  return { level: 'ok', title, text: 'No job waits too long, no worker is silent, no more attempts fail than usual.' };
}

function found(all: readonly Problem[], most: readonly Problem[], checks: readonly Diagnosis[]): Finding {
  const oldestMs = Math.max(0, ...all.map((one) => ageOf(one, now.value) ?? 0));
  const [first] = all;
  const text = first ? `${first.message} Oldest problem: ${duration(oldestMs)}.` : textOf(checks[0]!);
  const others = all.length - most.length + checks.length;
  if (most.length === 0)
    return {
      level: 'attention',
      title: others === 1 ? '1 problem needs attention' : `${others} problems need attention`,
      text,
    };
  const count = new Set(most.map(({ queue }) => queue)).size;
  return {
    ...{ level: 'broken', title: count === 1 ? '1 queue is broken' : `${count} queues are broken`, text },
    ...(others > 0 && { rest: `${others} more ${others === 1 ? 'needs' : 'need'} attention` }),
  };
}

const textOf = ({ check, facts }: Diagnosis) => `The check “${check}” of the database: ${facts}.`;
