import type { ComponentChildren } from 'preact';
import type { JobRow } from '../answers.js';
import { errorName } from '../format.js';
import { JobLink, QueueLink } from './links.js';
import { iconOf, JobState, State } from './state.js';
import type { Column, TableLayout } from './table.js';
import { When } from './when.js';

/** `left`: the job is no longer in the state of the filter, or it was removed. */
export type ListedJob = JobRow & { readonly left?: boolean };

interface Options<Row extends ListedJob> {
  readonly caption: string;
  /** Shows the queue of each job. */
  readonly hasQueue?: boolean;
  readonly at?: number;
  readonly selection?: JobSelection;
  /** Further columns. */
  readonly more?: readonly Column<Row>[];
}

interface JobSelection {
  readonly ids: ReadonlySet<number>;
  readonly areAll: boolean;
  toggle(id: number): void;
  toggleAll(): void;
}

/** The columns of jobs in each list of them. */
export function jobsTable<Row extends ListedJob>(options: Options<Row>): TableLayout<Row> {
  const { caption, hasQueue, at = -1, selection, more = [] } = options;
  const columns: Column<Row>[] = [
    ...(selection ? [selectColumn<Row>(selection)] : []),
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
  return {
    ...{ class: 'jobs-grid', caption, columns, at },
    keyOf: ({ id }) => id,
    rowClass: ({ id, left }) => `${selection?.ids.has(id) ? 'chosen' : ''} ${left ? 'left' : ''}`,
  };
}

function selectColumn<Row extends JobRow>({ ids, areAll, toggle, toggleAll }: JobSelection): Column<Row> {
  return {
    title: 'Select',
    class: 'check',
    isUnlabelled: true,
    head: () => <input type="checkbox" aria-label="Select all on this page" checked={areAll} onChange={toggleAll} />,
    cell: ({ id }) => (
      <input type="checkbox" aria-label={`Select job ${id}`} checked={ids.has(id)} onChange={() => toggle(id)} />
    ),
  };
}

function stateCell({ state, left }: ListedJob): ComponentChildren {
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
