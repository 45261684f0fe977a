import type { Page, WaitRow } from '../answers.js';
import { may } from '../live/rights.js';
import { href } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import { Empty, PageHead } from '../parts/layout.js';
import { JobLink, Pager, QueueLink } from '../parts/links.js';
import { ListCard } from '../parts/list-card.js';
import { ParamForm } from '../parts/param-form.js';
import { actionsColumn, type Column } from '../parts/table.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { SignalButton } from './job/signal-button.js';
import { UnmatchedSignals } from './waits/unmatched-signals.js';

const FIELDS = [
  ['name', 'Signal'],
  ['key', 'Key'],
  ['queue', 'Queue'],
] as const;

const COLUMNS: readonly Column<WaitRow>[] = [
  { title: 'Signal', isUnlabelled: true, cell: ({ name }) => <a href={href('waits', { name })}>{name}</a> },
  { title: 'Key', class: 'key-cell', cell: ({ key }) => key !== null && <span class="mono">{key}</span> },
  { title: 'Job', cell: ({ jobId }) => <JobLink id={jobId} /> },
  { title: 'Queue', cell: ({ queue }) => <QueueLink queue={queue} /> },
  { title: 'Name', cell: ({ jobName }) => jobName },
  { title: 'Until', isNumber: true, cell: ({ until }) => <When at={until} /> },
  actionsColumn(({ jobId, queue, name, key }) => (
    <SignalButton job={{ id: jobId, queue }} name={name} signalKey={key} />
  )),
];

/** The jobs that wait for signals. */
export function WaitsPage({ params }: PageProps) {
  const { name, key, queue, after } = params;
  const list = useAnswer<Page<'waits', WaitRow>>('waits', { name, key, queue, after });
  return (
    <>
      <PageHead title="Waits" />
      <ParamForm label="Filter of the waits" page="waits" fields={FIELDS} params={params} />
      <ListCard
        of={list}
        skeleton={10}
        rowsOf={({ waits }) => waits}
        table={{
          ...{ class: 'waits-grid', caption: 'Jobs that wait for signals', columns: COLUMNS },
          keyOf: ({ jobId, name: signal }) => `${jobId} ${signal}`,
        }}
        empty={({ next }) => (
          <Empty icon="signal" title={next === null ? 'No job waits for such a signal' : 'None on this page'}>
            A handler waits with <code>job.waitFor(name, {'{ key }'})</code>, until a signal with this name and key
            comes.
          </Empty>
        )}
        footer={({ next }) => <Pager page="waits" params={params} next={next} />}
      />
      {may('read') && <UnmatchedSignals params={params} />}
    </>
  );
}
