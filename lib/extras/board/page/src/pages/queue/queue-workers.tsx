import { sharedReading } from '../../live/live.js';
import { href } from '../../live/route.js';
import { Gauge } from '../../parts/gauge.js';
import { Card, Empty, Loaded } from '../../parts/layout.js';
import { State } from '../../parts/state.js';
import { When } from '../../parts/when.js';

/** The workers that serve the queue. */
export function QueueWorkers({ queue }: { queue: string }) {
  const reading = sharedReading('workers');
  const own = reading.data?.flatMap((worker) => {
    const served = worker.queues.find((one) => one.queue === queue);
    return served ? [{ ...worker, ...served }] : [];
  });
  return (
    <Card isFlush title="Workers" aside={<a href={href('workers')}>All</a>}>
      <Loaded of={{ ...reading, data: own }} rows={2}>
        {(shown) =>
          shown.length === 0 ? (
            <Empty icon="workers" title="No worker serves this queue" />
          ) : (
            <ul class="plain">
              {shown.map((worker) => (
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
          )
        }
      </Loaded>
    </Card>
  );
}
