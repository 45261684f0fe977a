import type { ComponentChildren } from 'preact';
import type { JobRow } from '../answers.js';
import { errorName } from '../format.js';
import { JobLink, QueueLink } from './links.js';
import { iconOf, JobState, State } from './state.js';
import { Table, type Column } from './table.js';
import { When } from './when.js';

/** `left`: the job is no longer in the state of the filter. */
type Listed = JobRow & { readonly left?: boolean };

interface Props<Row extends Listed> {
  readonly caption: string;
  readonly jobs: readonly Row[];
  /** Shows the queue of each job. */
  readonly hasQueue?: boolean;
  readonly at?: number;
  readonly selection?: JobSelection;
  /** Further columns. */
  readonly more?: readonly Column<Row>[];
}

export interface JobSelection {
  readonly ids: ReadonlySet<number>;
  toggle(id: number): void;
  toggleAll(): void;
}

export function JobsTable<Row extends Listed>({ caption, jobs, hasQueue, at, selection, more = [] }: Props<Row>) {
  const columns: Column<Row>[] = [
    ...(selection ? [selectColumn<Row>(selection, jobs.length)] : []),
    { title: 'Job', class: 'c-id', isUnlabelled: true, cell: ({ id }) => <JobLink id={id} /> },
    { title: 'State', class: 'c-state', isUnlabelled: true, cell: stateCell },
    ...(hasQueue
      ? [
          {
            title: 'Queue',
            class: 'c-jobqueue',
            isUnlabelled: true,
            cell: ({ queue }: Row) => <QueueLink queue={queue} />,
          },
        ]
      : []),
    { title: 'Name', class: 'c-name', isUnlabelled: true, cell: nameCell },
    { title: 'Attempt', class: 'c-attempt', isNumber: true, cell: attemptCell },
    { title: 'Error', class: 'c-error', isUnlabelled: true, cell: ({ error }) => error && <ErrorText error={error} /> },
    { title: 'Enqueued', isNumber: true, cell: ({ createdAt }) => <When at={createdAt} /> },
    {
      title: 'Due or ended',
      isNumber: true,
      cell: ({ finishedAt, startedAt, runAt }) => <When at={finishedAt ?? startedAt ?? runAt} />,
    },
    ...more,
  ];
  return (
    <Table
      class="jobs-grid"
      caption={caption}
      rows={jobs}
      keyOf={({ id }) => id}
      columns={columns}
      at={at ?? -1}
      rowClass={({ id, left }) => `${selection?.ids.has(id) ? 'chosen' : ''} ${left ? 'left' : ''}`}
    />
  );
}

function selectColumn<Row extends JobRow>({ ids, toggle, toggleAll }: JobSelection, count: number): Column<Row> {
  return {
    title: 'Select',
    class: 'check',
    isUnlabelled: true,
    head: () => (
      <input
        type="checkbox"
        aria-label="Select all on this page"
        checked={count > 0 && ids.size >= count}
        onChange={toggleAll}
      />
    ),
    cell: ({ id }) => (
      <input type="checkbox" aria-label={`Select job ${id}`} checked={ids.has(id)} onChange={() => toggle(id)} />
    ),
  };
}

function stateCell({ state, left }: Listed): ComponentChildren {
  return left ? <State state={iconOf(state)} text={`now ${state}`} /> : <JobState state={state} />;
}

function nameCell({ name, key, group }: JobRow): ComponentChildren {
  return (
    <>
      <span class="job-name">{name}</span>
      {group !== null && (
        <span class="tag" title={`group ${group}`}>
          {group}
        </span>
      )}
      {key !== null && (
        <span class="tag mono" title={`key ${key}`}>
          {key}
        </span>
      )}
    </>
  );
}

function attemptCell({ attempt, maxAttempts, state }: JobRow): ComponentChildren {
  const isLast = maxAttempts !== null && attempt >= maxAttempts && state === 'dead';
  return (
    <span class={isLast ? 'bad' : ''}>
      {attempt}
      {maxAttempts !== null && <span class="soft">/{maxAttempts}</span>}
    </span>
  );
}

export function ErrorText({ error }: { error: NonNullable<JobRow['error']> }) {
  return (
    <span class="error-line" title={error.message}>
      <b class="mono">{errorName(error)}</b> {error.message}
    </span>
  );
}
