import { useState } from 'preact/hooks';
import type { Worker, WorkerQueue } from '../answers.js';
import { number, plural, sum } from '../format.js';
import { sharedReading } from '../live/live.js';
import { href } from '../live/route.js';
import { useFirstRows } from '../parts/first-rows.js';
import { Gauge } from '../parts/gauge.js';
import { Icon } from '../parts/icons.js';
import { Card, Empty, Loaded, PageHead } from '../parts/layout.js';
import { QueueLink } from '../parts/links.js';
import { State } from '../parts/state.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { WorkerJobs } from './workers/worker-jobs.js';

/** The running workers, and those that crashed within the last day, of one queue or of all; silent ones first. */
export function WorkersPage({ params: { queue } }: PageProps) {
  const reading = sharedReading('workers');
  const all = queue ? reading.data?.filter(({ queues }) => queues.some((one) => one.queue === queue)) : reading.data;
  const sorted = all && [...all].sort((a, b) => Number(b.isSilent) - Number(a.isSilent));
  const list = sorted && sorted.length > 0 && (
    <ul class="worker-cards" aria-label="Workers">
      {sorted.map((worker) => (
        <WorkerCard key={worker.id} worker={worker} />
      ))}
    </ul>
  );
  return (
    <>
      <PageHead title={queue ? `Workers of ${queue}` : 'Workers'}>
        {all && all.length > 0 && (
          <span class="soft">{plural(all.length, 'worker')}, with those that crashed within a day</span>
        )}
        {queue && <a href={href('workers')}>All workers</a>}
      </PageHead>
      {(!list || reading.error) && (
        <Card>
          <Loaded of={{ ...reading, data: sorted }} rows={8}>
            {(shown) => shown.length === 0 && <NoWorker queue={queue} />}
          </Loaded>
        </Card>
      )}
      {list}
    </>
  );
}

function NoWorker({ queue }: { queue: string | undefined }) {
  if (queue)
    return (
      <Empty icon="workers" title={`No worker serves ${queue}`}>
        Start a process with a handler for it: @QueueProcessor({JSON.stringify(queue)})
      </Empty>
    );
  return (
    <Empty icon="workers" title="No worker runs">
      Start a process with a handler.
    </Empty>
  );
}

const MAX_QUEUES = 12;

function WorkerCard({ worker }: { worker: Worker }) {
  const { id, host, pid, queues, slots, startedAt, seenAt, isSilent: silent } = worker;
  const { rows, footer } = useFirstRows(queues, 'queues', MAX_QUEUES);
  const running = sum(queues.map((queue) => queue.running));
  const [isOpen, setOpen] = useState(false);
  return (
    <li class={`card worker ${silent ? 'silent' : ''}`}>
      <header>
        <State state={silent ? 'broken' : 'ok'} text={<b class="mono">{host}</b>} />
        <span class="soft">
          process {pid}, started <When at={startedAt} />
        </span>
      </header>
      {slots !== null && (
        <div class="slot-total">
          <span class="soft">All queues</span>
          <Gauge value={running} max={slots} label={`Running jobs of process ${pid}`} />
        </div>
      )}
      <ul class="slot-list" aria-label={`Queues of ${host}`}>
        {rows.map((row) => (
          <WorkerQueueLine key={row.queue} row={row} />
        ))}
      </ul>
      {footer}
      <div class="worker-jobs">
        <button
          type="button"
          class="link"
          aria-expanded={isOpen}
          aria-label={`Running jobs of process ${pid}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'down' : 'chevron'} size={12} /> Running jobs
        </button>
        {isOpen && <WorkerJobs worker={id} />}
      </div>
      <footer class={silent ? 'bad' : 'soft'}>
        <span>
          {silent ? 'silent' : 'alive'}, last heartbeat <When at={seenAt} />
        </span>
        <a
          class="mono"
          href={href('jobs', { worker: id, state: 'active' })}
          aria-label={`All running jobs of worker ${id}`}
        >
          {id.slice(0, 8)}
        </a>
      </footer>
    </li>
  );
}

function WorkerQueueLine({ row }: { row: WorkerQueue }) {
  const { queue, slots, running, prefetched } = row;
  return (
    <li>
      <QueueLink queue={queue} />
      <Gauge
        value={running}
        max={slots}
        isPressed={prefetched > 0}
        label={`Running jobs of ${queue}`}
        note={prefetched > 0 ? `, ${number(prefetched)} prefetched` : ''}
      />
    </li>
  );
}
