import type { ErrorCount } from '../../answers.js';
import { Sparkline } from '../../charts/sparkline.js';
import { number } from '../../format.js';
import { href } from '../../live/route.js';
import { useAnswer } from '../../live/use-read.js';
import { Card, Empty, Loaded } from '../../parts/layout.js';
import { When } from '../../parts/when.js';

const MAX_SHOWN = 4;
const READ_MS = 15_000;

/** The errors by which most attempts of the queue have failed in the last hour. */
export function QueueErrors({ queue }: { queue: string }) {
  // The shared list has only the most frequent errors of all queues.
  const own = useAnswer<{ errors: ErrorCount[] }>('errors', { queue }, READ_MS);
  return (
    <Card isFlush title="Errors of the last hour" aside={<a href={href('errors', { queue })}>All</a>}>
      <Loaded of={own} rows={3}>
        {({ errors }) =>
          errors.length === 0 ? (
            <Empty title="No attempt has failed" />
          ) : (
            <ul class="error-list">
              {errors.slice(0, MAX_SHOWN).map(({ error, message, failed, dead, lastHour, lastAt }) => (
                <li key={error}>
                  <a href={href('errors', { queue })}>
                    <span class="error-top">
                      <b class="mono">{error ?? 'other errors'}</b>
                      <Sparkline failed={lastHour} width={92} height={20} label="Failed attempts of the last hour" />
                    </span>
                    <span class="error-text">{message}</span>
                    <span class="soft">
                      {number(failed)} failed{dead > 0 && ', '}
                      {dead > 0 && <span class="bad">{number(dead)} dead</span>}, last <When at={lastAt} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
