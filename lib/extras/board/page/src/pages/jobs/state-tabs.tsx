import { countOf, number, sum } from '../../format.js';
import { isLoaded, queues } from '../../live/live.js';
import { href } from '../../live/route.js';
import { Icon } from '../../parts/icons.js';
import type { PageProps } from '../../shell/pages.js';

const STATES = ['waiting', 'scheduled', 'active', 'blocked', 'dead', 'cancelled', 'completed'] as const;

type State = (typeof STATES)[number];

/**
 * The states with their numbers of jobs, in the queue of the filter or in all. Beside another condition there are no numbers,
 * because the statistics do not know how many jobs meet it.
 */
export function StateTabs({ params }: PageProps) {
  const { after: _after, state: current = '', ...others } = params;
  const { queue, order: _order, ...conditions } = others;
  const isCounted = Object.values(conditions).every((value) => value === undefined || value === null || value === '');
  return (
    <nav class="state-tabs" aria-label="State">
      <a href={href('jobs', others)} aria-current={current === '' ? 'true' : undefined}>
        any state
      </a>
      {STATES.map((state) => (
        <a
          key={state}
          class={`s-${state}`}
          href={href('jobs', { ...others, state })}
          aria-current={current === state ? 'true' : undefined}
        >
          <Icon name={state} size={14} />
          {state}
          {isCounted && <span class="soft">{countIn(state, queue)}</span>}
        </a>
      ))}
    </nav>
  );
}

function countIn(state: State, queue: string | undefined): string {
  if (state === 'completed' || state === 'cancelled' || !isLoaded.value) return '';
  const some = queues.value.filter((one) => !queue || one.queue === queue);
  if (state === 'active') return number(sum(some.map((one) => one.active)));
  const counts = some.map((one) => one[state]);
  return countOf({ value: sum(counts.map(({ value }) => value)), atLeast: counts.some(({ atLeast }) => atLeast) });
}
