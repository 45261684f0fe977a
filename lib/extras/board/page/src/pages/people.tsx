import type { AssignedRow, JobRow, Page } from '../answers.js';
import { now } from '../live/clock.js';
import { rightsFor } from '../live/rights.js';
import { useAnswer } from '../live/use-read.js';
import { ActionButton, type Action } from '../parts/action.js';
import { jobsTable } from '../parts/jobs-table.js';
import { Empty, PageHead } from '../parts/layout.js';
import { Pager } from '../parts/links.js';
import { ListCard } from '../parts/list-card.js';
import { ParamForm } from '../parts/param-form.js';
import { actionsColumn, type Column } from '../parts/table.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { Owners } from './people/owners.js';

const FIELDS = [
  ['owner', 'Owner'],
  ['queue', 'Queue'],
  ['stage', 'Stage of the queue'],
] as const;

/** The work of people: the owners, and jobs by owner, by stage, or those of a queue without an owner. */
export function PeoplePage({ params }: PageProps) {
  const { owner, queue } = params;
  return (
    <>
      <PageHead title="People" />
      <ParamForm label="Jobs of people" page="people" fields={FIELDS} params={params} />
      {owner || queue ? <JobsOf params={params} /> : <Owners params={params} />}
    </>
  );
}

function JobsOf({ params }: PageProps) {
  const { owner, queue, stage, after } = params;
  const list = useAnswer<Page<'jobs', AssignedRow>>('people', { owner, queue, stage, after });
  const of = owner ? `assigned to ${owner}` : stage ? `in stage ${stage} of ${queue}` : `of ${queue} without an owner`;
  const columns: Column<AssignedRow>[] = [
    { title: 'Owner', cell: (job) => job.owner },
    { title: 'Stage', cell: (job) => job.stage },
    { title: 'Lease ends', cell: (job) => <Lease job={job} /> },
    { title: 'Snoozed until', cell: ({ snoozedUntil }) => snoozedUntil !== null && <When at={snoozedUntil} /> },
    takeBackColumn(),
  ];
  return (
    <ListCard
      of={list}
      title={`Jobs ${of}`}
      rowsOf={({ jobs }) => jobs}
      table={jobsTable({ caption: `Jobs ${of}`, hasQueue: !queue, more: columns })}
      empty={({ next }) => (
        <Empty icon="people" title={next ? 'None of these jobs matches. The next page searches on.' : 'No jobs'} />
      )}
      footer={({ next }) => <Pager page="people" params={params} next={next} />}
    />
  );
}

function takeBackColumn<Row extends JobRow>(): Column<Row> {
  return actionsColumn((job) =>
    job.state === 'active' ? <ActionButton verbs={rightsFor(job.queue).verbs} action={takeBack(job)} /> : null,
  );
}

function takeBack({ id, owner }: JobRow): Action {
  return {
    ...{ verb: 'release', text: 'Take back', label: `Take back job ${id}`, isDangerous: true, body: () => ({ id }) },
    confirm: `Take job ${id} back from ${owner ?? 'its worker'}?`,
    done: ({ changed = 0 }) => (changed > 0 ? `Job ${id} waits again.` : `Job ${id} was not assigned any more.`),
  };
}

const HOUR_MS = 3_600_000;

/** A bar that shrinks in the last hour of the lease. */
function Lease({ job: { state, leaseUntil } }: { job: AssignedRow }) {
  if (state !== 'active') return null;
  if (leaseUntil === null) return <>until it is released</>;
  const left = Math.max(0, Math.min(1, (Date.parse(leaseUntil) - now.value) / HOUR_MS));
  return (
    <span class="lease">
      <span class="track" aria-hidden="true">
        <i style={{ width: `${left * 100}%` }} />
      </span>
      <When at={leaseUntil} />
    </span>
  );
}
