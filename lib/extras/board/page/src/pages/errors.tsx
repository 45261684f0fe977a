import type { DeadJobs, ErrorCount, ErrorRange } from '../answers.js';
import { read } from '../api.js';
import { Sparkline } from '../charts/sparkline.js';
import { number, plural, sum } from '../format.js';
import { useRead } from '../live/use-read.js';
import { rightsFor } from '../live/rights.js';
import { go, href } from '../live/route.js';
import { BulkButton } from '../parts/bulk.js';
import { useFirstRows } from '../parts/first-rows.js';
import { Icon } from '../parts/icons.js';
import { Card, Empty, Loaded, PageHead, Segments } from '../parts/layout.js';
import { JobLink, QueueLink } from '../parts/links.js';
import { useRows } from '../parts/rows.js';
import { actionsColumn, Table, type Column } from '../parts/table.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { errorRows, keyOf, type ErrorRow } from './errors/error-rows.js';

const READ_MS = 15_000;
// Each has a chart of its own.
const MAX_ERRORS = 50;

const RANGES: readonly (readonly [ErrorRange, string])[] = [
  ['hour', '1 hour'],
  ['day', '24 hours'],
  ['month', '30 days'],
];

const WITHIN: Readonly<Record<ErrorRange, string>> = {
  hour: 'in the last hour',
  day: 'in the last 24 hours',
  month: 'in the last 30 days',
};

const COLUMNS: readonly Column<ErrorRow>[] = [
  { title: 'Error', class: 'error-cell', isUnlabelled: true, cell: (row) => <ErrorOf row={row} /> },
  { title: 'Queue', cell: ({ queue }) => <QueueLink queue={queue} /> },
  {
    title: 'Last hour',
    class: 'spark-cell',
    cell: ({ lastHour }) => (
      <Sparkline failed={lastHour} height={34} label={`${number(sum(lastHour))} attempts failed in the last hour`} />
    ),
  },
  { title: 'Failed', isNumber: true, cell: ({ failed }) => (failed > 0 ? number(failed) : '–') },
  { title: 'Dead', isNumber: true, cell: (row) => <DeadCount row={row} /> },
  { title: 'First', isNumber: true, cell: ({ firstAt }) => <When at={firstAt} /> },
  { title: 'Last', isNumber: true, cell: ({ lastAt }) => <When at={lastAt} /> },
  actionsColumn((row) => <GroupButtons row={row} />),
];

/** The errors of all queues: what breaks, since when, and the way to repair it. */
export function ErrorsPage({ params }: PageProps) {
  const { queue } = params;
  const [range] = RANGES.find(([name]) => name === params['range']) ?? RANGES[0]!;
  const within = WITHIN[range];
  const dead = useRead('dead-groups', () => read<{ groups: DeadJobs[] }>('dead-groups'), READ_MS);
  const counted = useRead(
    `${range} ${queue}`,
    () => read<{ errors: ErrorCount[] }>('errors', { queue, range }),
    READ_MS,
  );
  const groups = dead.data?.groups.filter((one) => !queue || one.queue === queue);
  const rows =
    counted.data && (groups || dead.error !== undefined) ? errorRows(counted.data.errors, groups ?? []) : undefined;
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
      </PageHead>
      <Card isFlush class="errors-card">
        <Loaded of={{ ...counted, data: rows }} rows={8}>
          {(shown) =>
            shown.length === 0 ? (
              <Empty title="No errors">
                Nothing has failed {within}
                {queue && ' in this queue'}, and no dead job is left.
              </Empty>
            ) : (
              <Errors all={shown} bound={boundOf(shown, within, dead.error?.text)} />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

function Errors({ all, bound }: { all: readonly ErrorRow[]; bound: string }) {
  const { rows, footer } = useFirstRows(all, 'errors', MAX_ERRORS);
  const at = useRows({ count: rows.length, onOpen: (index) => go('job', { id: rows[index]!.jobId }) });
  return (
    <>
      <Table
        class="errors-grid"
        caption="Errors, most failed attempts first"
        {...{ rows, keyOf, at }}
        columns={COLUMNS}
      />
      {footer}
      <footer class="pager">
        <span class="soft">{bound}</span>
      </footer>
    </>
  );
}

function boundOf(rows: readonly ErrorRow[], within: string, problem: string | undefined): string {
  const failed = `${plural(sum(rows.map((row) => row.failed)), 'attempt')} failed ${within}.`;
  if (problem !== undefined) return `${failed} The dead jobs are not known: ${problem}`;
  const total = number(sum(rows.map(({ dead }) => dead)));
  return rows.some(({ hasMoreDead }) => hasMoreDead)
    ? `${failed} The dead jobs are the newest 500 of each queue, ${total} in all. Numbers with + are lower bounds.`
    : `${failed} These are all ${total} dead jobs.`;
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
  if (dead === 0 && !hasMoreDead) return '–';
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
  if (!error || (dead === 0 && !hasMoreDead)) return null;
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
