import type { FlowRow, Page } from '../answers.js';
import { number, plural } from '../format.js';
import { go, href } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import type { IconName } from '../parts/icons.js';
import { Empty, PageHead, Segments } from '../parts/layout.js';
import { Pager, QueueLink } from '../parts/links.js';
import { ListCard } from '../parts/list-card.js';
import { ParamForm } from '../parts/param-form.js';
import { useRows } from '../parts/rows.js';
import { State } from '../parts/state.js';
import type { Column } from '../parts/table.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { FLOW_JOB_STATES, StackBar } from './flow/stack-bar.js';

const FIELDS = [
  ['queue', 'Queue'],
  ['id', 'Id of the flow'],
] as const;

const STATES = [
  ['', 'All'],
  ['stuck', 'Stuck'],
  ['running', 'Running'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
  ['completed', 'Completed'],
] as const;

const ICONS: Readonly<Record<FlowRow['state'], IconName>> = {
  stuck: 'broken',
  running: 'active',
  failed: 'dead',
  cancelled: 'cancelled',
  completed: 'completed',
};

const COLUMNS: readonly Column<FlowRow>[] = [
  {
    title: 'Flow',
    isUnlabelled: true,
    cell: ({ id }) => (
      <a class="mono job-link" href={href('flow', { id })}>
        {id}
      </a>
    ),
  },
  { title: 'State', cell: ({ state }) => <State state={ICONS[state] ?? 'idle'} text={state} /> },
  { title: 'First queue', cell: ({ queue }) => queue !== '' && <QueueLink queue={queue} /> },
  { title: 'First job', cell: ({ name }) => name },
  { title: 'Jobs', class: 'flow-jobs', cell: (flow) => <Jobs flow={flow} /> },
  { title: 'Stored', isNumber: true, cell: ({ createdAt }) => <When at={createdAt} /> },
];

/** The flows with their jobs by state, the newest first. */
export function FlowList({ params }: PageProps) {
  const { state = '', queue, after } = params;
  const list = useAnswer<Page<'flows', FlowRow>>('flows', { state, queue, after });
  const flows = list.data?.flows ?? [];
  const at = useRows({ count: flows.length, onOpen: (index) => go('flow', { id: flows[index]!.id }) });
  return (
    <>
      <PageHead title="Flows" />
      <ParamForm label="Filter of the flows" page="flow" fields={FIELDS} params={params} />
      <Segments
        label="State"
        value={STATES.find(([one]) => one === state)?.[0] ?? ''}
        options={STATES}
        onChange={(one) => go('flow', { queue, state: one })}
      />
      <ListCard
        of={list}
        skeleton={10}
        rowsOf={(answer) => answer.flows}
        table={{ class: 'flows-grid', caption: 'Flows, newest first', keyOf: ({ id }) => id, columns: COLUMNS, at }}
        empty={({ next }) => (
          <Empty icon="flow" title={emptyTitle(state, next)}>
            A producer stores a flow of jobs, of which some run after others.
          </Empty>
        )}
        footer={({ next }) => <Pager page="flow" params={params} next={next} />}
      />
    </>
  );
}

function emptyTitle(state: string, next: string | null): string {
  const which = state === '' ? '' : `${state} `;
  return next === null ? `No ${which}flows` : `No ${which}flows among the newest ones. The next page has older ones`;
}

function Jobs({ flow: { counts, atLeast } }: { flow: FlowRow }) {
  const given = FLOW_JOB_STATES.filter((state) => counts[state] > 0);
  const total = given.reduce((sum, state) => sum + counts[state], 0);
  const more = atLeast ? ' and more' : '';
  return (
    <span title={given.map((state) => `${number(counts[state])} ${state}`).join(', ') + more}>
      <StackBar counts={counts} />
      {given.map((state) => (
        <span key={state} class="flow-count">
          <b>{number(counts[state])}</b> {state}
        </span>
      ))}
      <span class="soft">{atLeast ? `of ${number(total)}+ jobs` : `of ${plural(total, 'job')}`}</span>
    </span>
  );
}
