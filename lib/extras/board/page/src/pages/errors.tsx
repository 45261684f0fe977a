import type { ErrorGroup } from '../answers.js';
import { Sparkline } from '../charts/sparkline.js';
import { number, sum } from '../format.js';
import { errors } from '../live/live.js';
import { rightsFor } from '../live/rights.js';
import { go, href } from '../live/route.js';
import { BulkButton } from '../parts/bulk.js';
import { Icon } from '../parts/icons.js';
import { Card, Empty, PageHead, Skeleton } from '../parts/layout.js';
import { JobLink, QueueLink } from '../parts/links.js';
import { useRows } from '../parts/rows.js';
import { actionsColumn, Table, type Column } from '../parts/table.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';

const COLUMNS: readonly Column<ErrorGroup>[] = [
  { title: 'Error', class: 'error-cell', isUnlabelled: true, cell: (group) => <ErrorOf group={group} /> },
  { title: 'Queue', cell: ({ queue }) => <QueueLink queue={queue} /> },
  {
    title: 'Last hour',
    class: 'spark-cell',
    cell: ({ course }) => (
      <Sparkline failed={course} height={34} label={`${number(sum(course))} died in the last hour`} />
    ),
  },
  { title: 'Dead', isNumber: true, cell: (group) => <DeadCount group={group} /> },
  { title: 'Oldest', isNumber: true, cell: ({ oldestAt }) => <When at={oldestAt} /> },
  { title: 'Newest', isNumber: true, cell: ({ newestAt }) => <When at={newestAt} /> },
  actionsColumn((group) => <GroupButtons group={group} />),
];

/** The dead jobs of all queues by their errors: what broke, since when, and the way to repair it. */
export function ErrorsPage({ params }: PageProps) {
  const { queue } = params;
  const rows = errors.value?.filter((one) => !queue || one.queue === queue);
  const at = useRows({ count: rows?.length ?? 0, onOpen: (index) => go('job', { id: rows![index]!.newestId }) });
  return (
    <>
      <PageHead
        title={queue ? `Errors of ${queue}` : 'Errors'}
        buttons={
          queue && (
            <>
              <a class="button" href={href('jobs', { queue, state: 'dead' })}>
                All dead jobs
              </a>
              <a class="button" href={href('queue', { queue })}>
                Queue
              </a>
            </>
          )
        }
      >
        {queue && (
          <span class="chip">
            <span class="soft">queue</span>
            <b>{queue}</b>
            <button type="button" aria-label="Remove the filter" onClick={() => go('errors')}>
              <Icon name="close" size={11} />
            </button>
          </span>
        )}
      </PageHead>
      <Card isFlush class="errors-card">
        {rows === undefined ? (
          <Skeleton rows={8} />
        ) : rows.length === 0 ? (
          <Empty title="No errors">
            {queue ? 'The queue has no dead jobs.' : 'No queue has dead jobs.'} Failed attempts are in the charts of
            their queues.
          </Empty>
        ) : (
          <>
            <Table
              class="errors-grid"
              caption="Dead jobs by error, most jobs first"
              rows={rows}
              keyOf={({ queue: of, error }) => `${of} ${error}`}
              columns={COLUMNS}
              at={at}
            />
            <footer class="pager">
              <span class="soft">{boundOf(rows)}</span>
            </footer>
          </>
        )}
      </Card>
    </>
  );
}

function boundOf(rows: readonly ErrorGroup[]): string {
  const total = number(sum(rows.map(({ count }) => count)));
  return rows.some(({ hasMore }) => hasMore)
    ? `These are the newest 500 dead jobs of each queue, ${total} in all. Numbers with + are lower bounds.`
    : `These are all ${total} dead jobs.`;
}

function ErrorOf({ group: { error, message, names, newestId } }: { group: ErrorGroup }) {
  return (
    <>
      <b class="mono">{error || 'without an error'}</b>
      <span class="error-text" title={message}>
        {message}
      </span>
      <span class="soft">
        {names.join(', ')}, newest <JobLink id={newestId} />
      </span>
    </>
  );
}

function DeadCount({ group: { queue, error, count, hasMore } }: { group: ErrorGroup }) {
  const text = `${number(count)}${hasMore ? '+' : ''}`;
  return (
    <a class="bad" href={href('jobs', { queue, state: 'dead', error })}>
      {text}
    </a>
  );
}

/** A filter cannot name jobs without an error. */
function GroupButtons({ group: { queue, error } }: { group: ErrorGroup }) {
  const { verbs } = rightsFor(queue);
  if (!error) return null;
  const selection = () => ({ filter: { queue, state: 'dead', error } });
  return (
    <>
      <BulkButton
        {...{ verbs, selection }}
        verb="retry"
        text="Replay"
        label={`Replay the jobs of ${queue} with ${error}`}
      />
      <BulkButton {...{ verbs, selection }} verb="remove" label={`Remove the jobs of ${queue} with ${error}`} />
    </>
  );
}
