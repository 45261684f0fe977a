import type { Page, SignalRow } from '../../answers.js';
import { href } from '../../live/route.js';
import { useAnswer } from '../../live/use-read.js';
import { Empty } from '../../parts/layout.js';
import { Pager } from '../../parts/links.js';
import { ListCard } from '../../parts/list-card.js';
import type { Column } from '../../parts/table.js';
import { When } from '../../parts/when.js';
import type { PageProps } from '../../shell/pages.js';

// A read examines up to 2,000 signals.
const MIN_AGE_MS = 30_000;

const COLUMNS: readonly Column<SignalRow>[] = [
  { title: 'Signal', isUnlabelled: true, cell: ({ name }) => <a href={href('waits', { name })}>{name}</a> },
  { title: 'Key', class: 'key-cell', cell: ({ key }) => <span class="mono">{key}</span> },
  { title: 'Sent', isNumber: true, cell: ({ sentAt }) => <When at={sentAt} withClock /> },
];

/** The signals that no job has received, for example because of a wrong key. */
export function UnmatchedSignals({ params }: PageProps) {
  const { sent } = params;
  const list = useAnswer<Page<'signals', SignalRow>>('signals', { after: sent }, MIN_AGE_MS);
  return (
    <ListCard
      of={list}
      title="Signals that no job has received"
      skeleton={3}
      rowsOf={({ signals }) => signals}
      table={{
        class: 'waits-grid',
        caption: 'Signals that no job has received and that no job waits for, newest first',
        keyOf: ({ name, key }) => JSON.stringify([name, key]),
        columns: COLUMNS,
      }}
      empty={({ next }) => (
        <Empty icon="signal" title={next === null ? 'No such signal within 30 days' : 'None on this page'} />
      )}
      footer={({ next }) => (
        <Pager page="waits" params={params} cursor="sent" next={next}>
          Sent within 30 days, of all names and keys. A later wait for one of them receives it at once.
        </Pager>
      )}
    />
  );
}
