import type { Subscription } from '../answers.js';
import { useAnswer } from '../live/use-read.js';
import { Empty, PageHead } from '../parts/layout.js';
import { QueueLink } from '../parts/links.js';
import { ListCard } from '../parts/list-card.js';
import type { Column } from '../parts/table.js';
import { When } from '../parts/when.js';

const EVERY_MS = 15_000;

const COLUMNS: readonly Column<Subscription>[] = [
  { title: 'Topic', isUnlabelled: true, cell: ({ topic }) => <b class="mono">{topic}</b> },
  { title: 'Queue', cell: ({ queue }) => <QueueLink queue={queue} /> },
  {
    title: 'Only with headers',
    cell: ({ where, isMalformed }) => (isMalformed ? 'malformed: matches nothing' : filterText(where)),
  },
  { title: 'Since', isNumber: true, cell: ({ createdAt }) => <When at={createdAt} /> },
];

/** The subscriptions of queues to topics. */
export function TopicsPage() {
  const list = useAnswer<{ subscriptions: Subscription[] }>('subscriptions', {}, EVERY_MS);
  return (
    <>
      <PageHead title="Topics" />
      <ListCard
        of={list}
        rowsOf={({ subscriptions }) => subscriptions}
        table={{
          ...{ caption: 'Subscriptions of queues to topics', columns: COLUMNS },
          keyOf: ({ queue, topic }) => `${queue} ${topic}`,
        }}
        first={['subscriptions']}
        empty={() => <Empty icon="topics" title="No queue has subscribed to a topic" />}
      />
    </>
  );
}

function filterText(where: Subscription['where']): string {
  return Object.entries(where)
    .map(([name, values]) => `${name} = ${[values].flat().join(' or ')}`)
    .join(', ');
}
