import type { ErrorCount, Job } from '../../answers.js';
import { errorName, number } from '../../format.js';
import { href } from '../../live/route.js';
import { useAnswer } from '../../live/use-read.js';
import { Copy } from '../../parts/copy.js';
import { Icon } from '../../parts/icons.js';
import { When } from '../../parts/when.js';

const ALIKE_MS = 30_000;

/** The last error, and how many other jobs died of it. */
export function ErrorBox({ job }: { job: Job }) {
  const { error, queue, state } = job;
  if (!error) return null;
  const name = errorName(error);
  return (
    <section class={`error-box ${state === 'dead' ? '' : 'past'}`} aria-label="Error">
      <Icon name="dead" size={20} />
      <div>
        <p class="error-title">
          <b class="mono">{name}</b> {error.message}
        </p>
        {state === 'dead' && <Alike queue={queue} name={name} />}
      </div>
      <Copy text={`${error.name}: ${error.message}\n${error.stack ?? ''}`} label="Copy the error" />
    </section>
  );
}

/** Counted, so some of these jobs may have been retried or removed since. */
function Alike({ queue, name }: { queue: string; name: string }) {
  const query = { queue, range: 'month' };
  const { data, error: failure } = useAnswer<{ errors: ErrorCount[] }>('errors', query, ALIKE_MS);
  if (failure)
    return <p class="error-similar soft">How many jobs died of the same error is not known: {failure.text}</p>;
  const alike = data?.errors.find(({ error }) => error === name);
  if (!alike || alike.dead < 2) return null;
  return (
    <p class="error-similar">
      <a href={href('jobs', { queue, state: 'dead', error: name })}>{number(alike.dead)} jobs died of the same error</a>{' '}
      <span class="soft">
        in 30 days, first seen <When at={alike.firstAt} withClock />
      </span>
    </p>
  );
}
