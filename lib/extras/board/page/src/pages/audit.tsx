import type { AuditEntry, Page } from '../answers.js';
import { number } from '../format.js';
import { href } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import { Empty, PageHead } from '../parts/layout.js';
import { Pager, QueueLink } from '../parts/links.js';
import { ListCard } from '../parts/list-card.js';
import { ParamForm } from '../parts/param-form.js';
import type { Column } from '../parts/table.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { Selection } from './audit/selection.js';

const FIELDS = [
  ['by', 'By'],
  ['verb', 'Verb'],
  ['queue', 'Queue'],
] as const;

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'At', cell: ({ at }) => <When at={at} withClock withSeconds /> },
  { title: 'By', cell: ({ by }) => (by === null ? 'unknown' : <a href={href('audit', { by })}>{by}</a>) },
  { title: 'Verb', cell: ({ verb }) => <a href={href('audit', { verb })}>{verb}</a> },
  { title: 'Queue', cell: ({ queue }) => queue !== null && <QueueLink queue={queue} /> },
  { title: 'Which', class: 'json-cell', cell: (entry) => <Selection entry={entry} /> },
  {
    title: 'Options',
    class: 'json-cell',
    cell: ({ options }) => options !== undefined && <code>{JSON.stringify(options)}</code>,
  },
  { title: 'Changed', isNumber: true, cell: ({ count }) => number(count) },
];

/** The changes of administrators. */
export function AuditPage({ params }: PageProps) {
  const { by, verb, queue, after } = params;
  const list = useAnswer<Page<'entries', AuditEntry>>('audit', { by, verb, queue, after });
  return (
    <>
      <PageHead title={queue ? `Audit of ${queue}` : 'Audit'} />
      <ParamForm label="Filter of the audit" page="audit" fields={FIELDS} params={params} />
      <ListCard
        of={list}
        skeleton={10}
        rowsOf={({ entries }) => entries}
        table={{ class: 'audit-grid', caption: 'Changes, newest first', keyOf: ({ id }) => id, columns: COLUMNS }}
        empty={({ next }) => <Empty icon="audit" title={next ? 'None on this page' : 'No changes'} />}
        footer={({ next }) => <Pager page="audit" params={params} next={next} />}
      />
    </>
  );
}
