import { workers } from '../../live/live.js';
import { href } from '../../live/route.js';
import { Gauge } from '../../parts/gauge.js';
import { Card, Empty } from '../../parts/layout.js';
import { State } from '../../parts/state.js';
import { When } from '../../parts/when.js';

/** The workers that serve the queue. Nothing without the right to the list of workers. */
export function QueueWorkers({ queue }: { queue: string }) {
  if (workers.value === undefined) return null;
  const own = workers.value.flatMap((worker) => {
    const served = worker.queues.find((one) => one.queue === queue);
    return served ? [{ ...worker, ...served }] : [];
  });
  return (
    <Card isFlush title="Workers" aside={<a href={href('workers')}>All</a>}>
      {own.length === 0 ? (
        <Empty icon="workers" title="No worker serves this queue" />
      ) : (
        <ul class="plain">
          {own.map((worker) => (
            <li key={worker.id}>
              <State
                state={worker.isSilent ? 'broken' : 'ok'}
                text={
                  <span class="mono">
                    {worker.host} {worker.pid}
                  </span>
                }
              />
              <Gauge
                value={worker.running}
                max={worker.slots}
                isPressed={worker.prefetched > 0}
                label={`Running jobs of process ${worker.pid}`}
              />
              <span class="soft">
                {worker.isSilent ? 'silent, ' : 'alive, '}
                <When at={worker.seenAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
