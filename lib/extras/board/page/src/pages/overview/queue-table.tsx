import type { Queue } from '../../answers.js';
import { number } from '../../format.js';
import { isLoaded, lines, problemByQueue, queues } from '../../live/live.js';
import { go, replaceParams } from '../../live/route.js';
import { ActionButton, type Action } from '../../parts/action.js';
import { Icon } from '../../parts/icons.js';
import { useFirstRows } from '../../parts/first-rows.js';
import { Card, Empty, Segments, Skeleton } from '../../parts/layout.js';
import { Menu } from '../../parts/menu.js';
import { useRows } from '../../parts/rows.js';
import { Table } from '../../parts/table.js';
import type { PageProps } from '../../shell/pages.js';
import { QUEUE_COLUMNS, perMinute } from './queue-columns.js';

const ORDERS = [
  ['urgency', 'Urgency'],
  ['waiting', 'Waiting'],
  ['throughput', 'Throughput'],
  ['name', 'Name'],
] as const;

type Order = (typeof ORDERS)[number][0];

export function QueueTable({ params }: PageProps) {
  const text = params['find'] ?? '';
  const order = ORDERS.find(([one]) => one === params['order'])?.[0] ?? 'urgency';
  const found = queues.value.filter(({ queue }) => queue.toLowerCase().includes(text.toLowerCase()));
  const { rows, footer } = useFirstRows(found.sort(comparing(order)), 'queues');
  const at = useRows({ count: rows.length, onOpen: (index) => go('queue', { queue: rows[index]!.queue }) });
  if (!isLoaded.value)
    return (
      <Card title="Queues">
        <Skeleton rows={8} />
      </Card>
    );
  return (
    <Card
      isFlush
      class="queues-card"
      title={
        <>
          Queues <span class="soft">{number(queues.value.length)}</span>
        </>
      }
      aside={
        <>
          <label class="filter-box">
            <Icon name="search" size={13} />
            <input
              data-search
              type="search"
              aria-label="Filter of queues"
              placeholder="Filter"
              value={text}
              onInput={(event) => replaceParams({ find: event.currentTarget.value })}
            />
            <kbd aria-hidden="true">/</kbd>
          </label>
          <Segments
            label="Order"
            value={order}
            options={ORDERS}
            onChange={(one: Order) => replaceParams({ order: one === 'urgency' ? '' : one })}
          />
          <AllQueues />
        </>
      }
    >
      {rows.length === 0 ? (
        <Empty icon="search" title="No queue has this name" />
      ) : (
        <Table
          class="queue-grid"
          caption="Queues"
          rows={rows}
          keyOf={({ queue }) => queue}
          columns={QUEUE_COLUMNS}
          at={at}
        />
      )}
      {footer}
    </Card>
  );
}

function comparing(order: Order): (a: Queue, b: Queue) => number {
  const rate = ({ queue }: Queue) => perMinute(lines.value?.get(queue)) ?? 0;
  const byName = (a: Queue, b: Queue) => (a.queue < b.queue ? -1 : 1);
  const urgent = [...problemByQueue.value.keys()].reverse();
  const rank = new Map(urgent.map((queue, index) => [queue, index + 1]));
  const urgency = ({ queue }: Queue) => rank.get(queue) ?? 0;
  const orders: Readonly<Record<Order, (a: Queue, b: Queue) => number>> = {
    name: byName,
    waiting: (a, b) => b.waiting.value - a.waiting.value || byName(a, b),
    throughput: (a, b) => rate(b) - rate(a) || byName(a, b),
    urgency: (a, b) => urgency(b) - urgency(a) || byName(a, b),
  };
  return orders[order];
}

/** The verbs for all queues that the viewer may pause or resume. */
function AllQueues() {
  const verbs = queues.value.flatMap((one) => one.verbs);
  if (queues.value.length < 2 || verbs.length === 0) return null;
  const actionOf = (verb: 'pause' | 'resume', past: string): Action => {
    const text = `${verb === 'pause' ? 'Pause' : 'Resume'} all queues`;
    return {
      ...{ verb, text, confirm: `${text}?`, isDangerous: verb === 'pause', body: () => ({ all: true }) },
      done: ({ changed }) => `${number(changed ?? 0)} queues are ${past}.`,
    };
  };
  return (
    <Menu label="All queues">
      <ActionButton verbs={verbs} action={actionOf('pause', 'paused')} icon="paused" />
      <ActionButton verbs={verbs} action={actionOf('resume', 'resumed')} icon="play" />
    </Menu>
  );
}
