import type { Group, JobRow, Page, Point, Queue } from '../answers.js';
import { AttemptCharts, LatencyCard, RANGES, stepOf, type Step } from '../charts/history.js';
import { duration } from '../format.js';
import { now } from '../live/clock.js';
import { problems, queues } from '../live/live.js';
import { rightsFor } from '../live/rights.js';
import { go, href } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import { jobsTable } from '../parts/jobs-table.js';
import { Card, Empty, Failure, Loaded, PageHead, Segments, Skeleton } from '../parts/layout.js';
import { ListCard } from '../parts/list-card.js';
import { disabledText } from '../parts/enabled.js';
import { ageOf, problemsOf, titleOf } from '../parts/problem-text.js';
import { Pill } from '../parts/state.js';
import type { PageProps } from '../shell/pages.js';
import { Groups } from './queue/groups.js';
import { Limits } from './queue/limits.js';
import { Pipeline } from './queue/pipeline.js';
import { QueueButtons } from './queue/queue-buttons.js';
import { QueueErrors } from './queue/queue-errors.js';
import { QueueWorkers } from './queue/queue-workers.js';

const NEWEST = 10;
const GROUPS = 20;
const HISTORY_MS = 30_000;

export function QueuePage({ params }: PageProps) {
  const { queue = '', group } = params;
  const known = queues.value.find((one) => one.queue === queue);
  // A queue that is younger than the last update, or none.
  const own = useAnswer<Queue>('queue', { queue }, HISTORY_MS);
  const record: Queue | undefined = known ?? (own.data && { ...own.data, verbs: [] });
  const crumbs = [['Queues', href('overview')], [queue]] as const;
  if (!record && own.error !== undefined)
    return (
      <>
        <PageHead title={queue} crumbs={crumbs} />
        {own.error.status === 404 ? (
          <Empty icon="queues" title={own.error.text}>
            <a href={href('overview')}>All queues</a>
          </Empty>
        ) : (
          <Failure error={own.error} reload={own.reload} />
        )}
      </>
    );
  // The parts begin their reads beside that of the queue.
  return (
    <>
      <PageHead
        title={queue}
        crumbs={crumbs}
        buttons={record && <QueueButtons record={record} verbs={rightsFor(queue).verbs} />}
      >
        {record && <QueueStatus record={record} />}
      </PageHead>
      {record ? <Pipeline record={record} /> : <Skeleton rows={2} />}
      <div class="split">
        <div class="col">
          <Charts params={params} />
          <NewestJobs queue={queue} />
        </div>
        <div class="col rail">
          <QueueErrors queue={queue} />
          {record && <Limits record={record} verbs={rightsFor(queue).verbs} />}
          <QueueGroups queue={queue} after={group} />
          <QueueWorkers queue={queue} />
        </div>
      </div>
    </>
  );
}

function QueueStatus({ record: { queue, paused, settings } }: { record: Queue }) {
  const [first] = problemsOf(problems.value, queue);
  const off = paused ? 'paused' : disabledText(settings.enabled);
  if (off && (!first || first.rule === 'paused'))
    return (
      <Pill tone="attention" icon="paused">
        {off}
      </Pill>
    );
  if (!first) return null;
  const age = ageOf(first, now.value);
  return (
    <Pill tone={first.severity} icon={first.severity}>
      <span title={first.message}>
        {titleOf(first)}
        {age !== null && ` for ${duration(age)}`}
      </span>
    </Pill>
  );
}

function Charts({ params }: PageProps) {
  const { queue = '' } = params;
  const step = stepOf(params['step']);
  const history = useAnswer<{ points: Point[] }>('history', { queue, step }, HISTORY_MS);
  const points = history.data?.points;
  const onRange = (one: Step) => go('queue', { ...params, step: one === 'minute' ? '' : one });
  return (
    <>
      <Card
        isFlush
        class="chart-card"
        title="Attempts"
        aside={<Segments label="Range" value={step} options={RANGES} onChange={onRange} />}
      >
        <Loaded of={history} rows={11}>
          {({ points: known }) => (
            <AttemptCharts points={known} step={step} problems={problemsOf(problems.value, queue)} />
          )}
        </Loaded>
      </Card>
      {(points || !history.error) && (
        <div class="charts even">
          <LatencyCard {...{ points, step }} title="Wait to start" field="waitMs" height={140} skeleton={6} />
          <LatencyCard {...{ points, step }} title="Run time" field="runMs" height={140} skeleton={6} />
        </div>
      )}
    </>
  );
}

function NewestJobs({ queue }: { queue: string }) {
  const newest = useAnswer<Page<'jobs', JobRow>>('jobs', { queue, order: 'newest', limit: NEWEST });
  return (
    <ListCard
      of={newest}
      title="Newest jobs"
      aside={<a href={href('jobs', { queue })}>All jobs</a>}
      rowsOf={({ jobs }) => jobs}
      table={jobsTable({ caption: 'Newest jobs' })}
      empty={() => <Empty icon="jobs" title="No jobs" />}
    />
  );
}

function QueueGroups({ queue, after }: { queue: string; after: string | undefined }) {
  const page = useAnswer<Page<'groups', Group>>('groups', { queue, after, limit: GROUPS });
  // Most queues have no groups.
  if (!page.error && (!page.data || (page.data.groups.length === 0 && !after))) return null;
  return (
    <Card isFlush title="Groups">
      <Loaded of={page}>
        {({ groups, next }) => <Groups {...{ queue, groups, next }} verbs={rightsFor(queue).verbs} />}
      </Loaded>
    </Card>
  );
}
