import type { Relatives as Answer } from '../../answers.js';
import { countOf } from '../../format.js';
import { href } from '../../live/route.js';
import { useAnswer } from '../../live/use-read.js';
import { Card, Loaded } from '../../parts/layout.js';
import { JobLink } from '../../parts/links.js';
import { JobState } from '../../parts/state.js';

const EVERY_MS = 5_000;

/** The jobs that wait for this one, and those that it waits for. */
export function Relatives({ id, flow }: { id: number; flow: number }) {
  const relatives = useAnswer<Answer>('relatives', { id }, EVERY_MS);
  return (
    <Card title="In its flow" class="relatives">
      <Loaded of={relatives} rows={3}>
        {({ parents, children }) => (
          <>
            <Jobs title="Parents wait for it" of={parents} flow={flow} />
            <Jobs title="It waits for children" of={children} flow={flow} />
            {parents.count + children.count === 0 && <p class="soft">It is the only job of its flow.</p>}
          </>
        )}
      </Loaded>
    </Card>
  );
}

function Jobs({ title, of: { jobs, count, atLeast }, flow }: { title: string; of: Answer['parents']; flow: number }) {
  if (count === 0) return null;
  const more = count - jobs.length;
  return (
    <>
      <h3>{title}</h3>
      <ul aria-label={title}>
        {jobs.map(({ id, queue, name, state }) => (
          <li key={id}>
            <JobLink id={id} /> <span>{name === 'default' ? queue : `${queue} ${name}`}</span>
            <JobState state={state} />
          </li>
        ))}
        {(more > 0 || atLeast) && (
          <li>
            <a href={href('flow', { id: flow })}>and {countOf({ value: more, atLeast })} more</a>
          </li>
        )}
      </ul>
    </>
  );
}
