import { Sparkline } from '../../charts/sparkline.js';
import { number } from '../../format.js';
import { errors } from '../../live/live.js';
import { href } from '../../live/route.js';
import { Card, Empty, Skeleton } from '../../parts/layout.js';
import { When } from '../../parts/when.js';

const MAX_SHOWN = 4;

/** The errors of which most jobs of the queue died. */
export function QueueErrors({ queue }: { queue: string }) {
  const own = errors.value?.filter((one) => one.queue === queue);
  return (
    <Card
      isFlush
      title="Errors of dead jobs"
      aside={own && own.length > 0 && <a href={href('errors', { queue })}>All</a>}
    >
      {own === undefined ? (
        <Skeleton rows={3} />
      ) : own.length === 0 ? (
        <Empty title="No dead jobs" />
      ) : (
        <ul class="error-list">
          {own.slice(0, MAX_SHOWN).map(({ error, message, count, hasMore, course, newestAt }) => (
            <li key={error}>
              <a href={href('jobs', { queue, state: 'dead', error })}>
                <span class="error-top">
                  <b class="mono">{error || 'without an error'}</b>
                  <Sparkline failed={course} width={92} height={20} label="Deaths in the last hour" />
                </span>
                <span class="error-text">{message}</span>
                <span class="soft">
                  <span class="bad">
                    {number(count)}
                    {hasMore && '+'} dead
                  </span>
                  , last <When at={newestAt} />
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
