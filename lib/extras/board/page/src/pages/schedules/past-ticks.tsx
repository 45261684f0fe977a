import type { PastTicks } from '../../answers.js';
import { clock, exact } from '../../format.js';
import { href } from '../../live/route.js';
import { JobLink } from '../../parts/links.js';
import { JobState } from '../../parts/state.js';

interface PastTickListProps {
  readonly queue: string;
  readonly name: string;
  readonly past: PastTicks;
}

/** The last jobs of a schedule with their ticks. Jobs whose retention is over are missing. */
export function PastTickList({ queue, name, past: { ticks, isAll } }: PastTickListProps) {
  if (ticks.length === 0)
    return <p>{isAll ? 'No job of it is stored.' : 'None of the newest jobs of the queue is of a tick.'}</p>;
  return (
    <>
      <ol class="tick-list" aria-label="Last jobs">
        {ticks.map(({ id, state, at, missed }) => (
          <li key={id}>
            <time dateTime={at} title={exact(at)}>
              {clock(at, true)}
            </time>{' '}
            <JobLink id={id} /> <JobState state={state} />
            {missed && <span class="tag">missed, ran late</span>}
          </li>
        ))}
      </ol>
      {!isAll && <p class="soft">Only the newest jobs of the queue were examined.</p>}
      <a href={href('jobs', { queue, schedule: name })}>All its jobs</a>
    </>
  );
}
