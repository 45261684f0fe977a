import type { DeadJobsOfAll, DeadJobsOfQueue, ErrorList, ErrorRange } from '../answers.js';
import { read } from '../api.js';
import { Sparkline } from '../charts/sparkline.js';
import { number, plural, sum } from '../format.js';
import { useAnswer, useRead } from '../live/use-read.js';
import { rightsFor } from '../live/rights.js';
import { go, href } from '../live/route.js';
import { BulkButton } from '../parts/bulk.js';
import { useFirstRows } from '../parts/first-rows.js';
import { Icon } from '../parts/icons.js';
import { Card, Empty, Failure, Loaded, PageHead, Segments } from '../parts/layout.js';
import { JobLink, QueueLink } from '../parts/links.js';
import { useRows } from '../parts/rows.js';
import { actionsColumn, Table, type Column } from '../parts/table.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { errorRows, keyOf, ORDERS, sorted, type ErrorRow } from './errors/error-rows.js';

const READ_MS = 15_000;
// Each has a chart of its own.
const MAX_ERRORS = 50;

const RANGES: readonly (readonly [ErrorRange, string])[] = [
  ['hour', '1 hour'],
  ['day', '24 hours'],
  ['month', '30 days'],
];

const COURSES: Readonly<Record<ErrorRange, string>> = {
  hour: 'Last hour',
  day: 'Last 24 hours',
  month: 'Last 30 days',
};

const withinOf = (range: ErrorRange) => `in the ${COURSES[range].toLowerCase()}`;

const zero = () => <span class="soft">0</span>;
const count = (value: number) => (value === 0 ? zero() : number(value));

const columnsOf = (range: ErrorRange): readonly Column<ErrorRow>[] => [
  { title: 'Error', class: 'error-cell', isUnlabelled: true, cell: (row) => <ErrorOf row={row} /> },
  { title: 'Queue', cell: ({ queue }) => <QueueLink queue={queue} /> },
  {
    title: COURSES[range],
    class: 'spark-cell',
    cell: ({ course }) => (
      <Sparkline failed={course} height={34} label={`${number(sum(course))} attempts failed ${withinOf(range)}`} />
    ),
  },
  { title: 'Retried', isNumber: true, cell: ({ retried }) => count(retried) },
  { title: 'Died', isNumber: true, cell: ({ died }) => count(died) },
  { title: 'Dead now', isNumber: true, cell: (row) => <DeadCount row={row} /> },
  { title: 'First seen', isNumber: true, cell: ({ firstAt }) => <When at={firstAt} /> },
  { title: 'Last seen', isNumber: true, cell: ({ lastAt }) => <When at={lastAt} /> },
  actionsColumn((row) => <GroupButtons row={row} />),
];

/** The dead jobs of one queue, or of those queues that have the most. */
async function readDeadJobs(queue: string | undefined): Promise<DeadJobsOfAll> {
  if (!queue) return read<DeadJobsOfAll>('dead-groups');
  const { groups, hasMore, examined } = await read<DeadJobsOfQueue>('dead', { queue });
  return {
    groups: groups.map((group) => ({ queue, hasMore, ...group })),
    ...{ examined: [queue], mostPerQueue: examined, others: [], hasMoreOthers: false },
  };
}

/** The errors of all queues: what breaks, since when, and the way to repair it. */
export function ErrorsPage({ params }: PageProps) {
  const { queue } = params;
  const [range] = RANGES.find(([name]) => name === params['range']) ?? RANGES[0]!;
  const within = withinOf(range);
  const order = ORDERS.find(([name]) => name === params['order'])?.[0] ?? 'failed';
  const dead = useRead(`dead ${queue ?? ''}`, () => readDeadJobs(queue), READ_MS);
  const counted = useAnswer<ErrorList>('errors', { queue, range }, READ_MS);
  const isRead = counted.data && (dead.data || dead.error);
  const known = dead.data && { ...dead.data, examined: isOfAll(dead.data) ? undefined : dead.data.examined };
  const rows = isRead && sorted(errorRows(counted.data.errors, known), order);
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
        <Segments
          label="Range"
          value={range}
          options={RANGES}
          onChange={(one) => go('errors', { ...params, range: one === 'hour' ? '' : one })}
        />
        <Segments
          label="Order"
          value={order}
          options={ORDERS}
          onChange={(one) => go('errors', { ...params, order: one === 'failed' ? '' : one })}
        />
      </PageHead>
      <Card isFlush class="errors-card">
        {dead.error && <Failure error={dead.error} reload={dead.reload} part="dead jobs" />}
        <Loaded of={{ ...counted, data: rows }} rows={8}>
          {(shown) => (
            <>
              {shown.length === 0 ? (
                <NoErrors {...{ within, queue }} isDeadKnown={dead.data !== undefined && isOfAll(dead.data)} />
              ) : (
                <Errors all={shown} range={range} />
              )}
              {(shown.length > 0 || dead.data) && (
                <Bounds {...{ rows: shown, within }} hasMore={counted.data?.hasMore ?? false} dead={dead.data} />
              )}
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function NoErrors({ within, queue, isDeadKnown }: { within: string; queue: string | undefined; isDeadKnown: boolean }) {
  const where = queue ? ' in this queue' : '';
  if (!isDeadKnown) return <Empty title={`No attempt has failed ${within}${where}`}>There may be dead jobs.</Empty>;
  return (
    <Empty title="No errors">
      Nothing has failed {within}
      {where}, and no dead job is left.
    </Empty>
  );
}

function Errors({ all, range }: { all: readonly ErrorRow[]; range: ErrorRange }) {
  const { rows, footer } = useFirstRows(all, 'errors', MAX_ERRORS);
  const at = useRows({ count: rows.length, onOpen: (index) => go('job', { id: rows[index]!.jobId }) });
  return (
    <>
      <Table class="errors-grid" caption="Errors" {...{ rows, keyOf, at }} columns={columnsOf(range)} />
      {footer}
    </>
  );
}

interface BoundsProps {
  readonly rows: readonly ErrorRow[];
  readonly within: string;
  readonly hasMore: boolean;
  readonly dead: DeadJobsOfAll | undefined;
}

/** What the list leaves out, and the way to it. */
function Bounds({ rows, within, hasMore, dead }: BoundsProps) {
  return (
    <footer class="pager">
      <span class="soft">
        {plural(sum(rows.map((row) => row.failed)), 'attempt')} failed {within}.{' '}
        {hasMore && 'Only the errors with the most failed attempts are here. The page of a queue has its own. '}
        {dead ? deadText(rows, dead) : 'The dead jobs are not known.'}
        {dead && <OtherQueues dead={dead} />}
      </span>
    </footer>
  );
}

/** No further queue has dead jobs. */
function isOfAll({ others, hasMoreOthers }: DeadJobsOfAll): boolean {
  return others.length === 0 && !hasMoreOthers;
}

function deadText(rows: readonly ErrorRow[], dead: DeadJobsOfAll): string {
  const total = number(sum(rows.map((row) => row.dead ?? 0)));
  if (rows.some(({ hasMoreDead }) => hasMoreDead))
    return `The dead jobs are the newest ${number(dead.mostPerQueue)} of each queue, ${total} in all. Numbers with + are lower bounds.`;
  return isOfAll(dead) ? `These are all ${total} dead jobs.` : `These are ${total} dead jobs.`;
}

function OtherQueues({ dead }: { dead: DeadJobsOfAll }) {
  const { examined, others, hasMoreOthers } = dead;
  if (isOfAll(dead)) return null;
  return (
    <>
      {' '}
      Only the {number(examined.length)} queues with the most dead jobs were read. Those of the others:{' '}
      {others.map((queue, index) => (
        <span key={queue}>
          {index > 0 && ', '}
          <a href={href('errors', { queue })}>{queue}</a>
        </span>
      ))}
      {hasMoreOthers && (
        <>
          {others.length > 0 && ' and '}more on the <a href={href('overview')}>overview</a>
        </>
      )}
      .
    </>
  );
}

function ErrorOf({ row: { error, message, names, jobId } }: { row: ErrorRow }) {
  return (
    <>
      <b class="mono">{error === null ? 'other errors' : error || 'without an error'}</b>
      <span class="error-text" title={message}>
        {message}
      </span>
      <span class="soft">
        {names.length > 0 && `${names.join(', ')}, `}newest <JobLink id={jobId} />
      </span>
    </>
  );
}

function DeadCount({ row: { queue, error, dead, hasMoreDead } }: { row: ErrorRow }) {
  if (dead === null) return <span class="soft">–</span>;
  if (dead === 0 && !hasMoreDead) return zero();
  const text = `${number(dead)}${hasMoreDead ? '+' : ''}`;
  return (
    <a class="bad" href={href('jobs', { queue, state: 'dead', ...(error && { error }) })}>
      {text}
    </a>
  );
}

/** A filter cannot name jobs without an error. */
function GroupButtons({ row: { queue, error, dead, hasMoreDead } }: { row: ErrorRow }) {
  const { verbs } = rightsFor(queue);
  if (!error || (!dead && !hasMoreDead)) return null;
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
