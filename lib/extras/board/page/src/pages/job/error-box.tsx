import type { Job } from '../../answers.js';
import { errorName, number } from '../../format.js';
import { errors } from '../../live/live.js';
import { href } from '../../live/route.js';
import { Copy } from '../../parts/copy.js';
import { Icon } from '../../parts/icons.js';
import { When } from '../../parts/when.js';

/** The last error, and how many other jobs died of it. */
export function ErrorBox({ job }: { job: Job }) {
  const { error, queue, state } = job;
  if (!error) return null;
  const name = errorName(error);
  const alike = state === 'dead' ? errors.value?.find((one) => one.queue === queue && one.error === name) : undefined;
  return (
    <section class={`error-box ${state === 'dead' ? '' : 'past'}`} aria-label="Error">
      <Icon name="dead" size={20} />
      <div>
        <p class="error-title">
          <b class="mono">{name}</b> {error.message}
        </p>
        {alike && alike.count > 1 && (
          <p class="error-similar">
            <a href={href('jobs', { queue, state: 'dead', error: name })}>
              {number(alike.count)}
              {alike.hasMore && '+'} jobs died of the same error
            </a>{' '}
            <span class="soft">
              since <When at={alike.oldestAt} withClock />
            </span>
          </p>
        )}
      </div>
      <Copy text={`${error.name}: ${error.message}\n${error.stack ?? ''}`} label="Copy the error" />
    </section>
  );
}
