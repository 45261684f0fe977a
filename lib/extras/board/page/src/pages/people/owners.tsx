import type { JobRow, Page } from '../../answers.js';
import { number } from '../../format.js';
import { href } from '../../live/route.js';
import { useAnswer } from '../../live/use-read.js';
import { Empty } from '../../parts/layout.js';
import { Pager, QueueLink } from '../../parts/links.js';
import { ListCard } from '../../parts/list-card.js';
import type { Column } from '../../parts/table.js';
import { When } from '../../parts/when.js';
import type { PageProps } from '../../shell/pages.js';

const MAX_ACTIVE = 200;

/** The jobs of one queue that a person has. */
interface Share {
  readonly owner: string;
  readonly queue: string;
  readonly count: number;
  /** The time of the first claim. */
  readonly oldest: string | null;
}

/** The owners of a part of the active jobs. People keep jobs for longer than workers do, so the oldest jobs come first. */
export function Owners({ params }: PageProps) {
  const { after } = params;
  const query = { state: 'active', order: 'oldest', after, limit: MAX_ACTIVE };
  const list = useAnswer<Page<'jobs', JobRow>>('jobs', query);
  const isPart = Boolean(after || list.data?.next);
  return (
    <ListCard
      of={list}
      title="Owners"
      rowsOf={({ jobs }) => sharesOf(jobs)}
      table={{
        ...{ class: 'owners-grid', caption: 'Owners of jobs', columns: columnsOf(isPart) },
        keyOf: ({ owner, queue }) => JSON.stringify([owner, queue]),
      }}
      empty={() => (
        <Empty
          icon="people"
          title={isPart ? 'None of the active jobs of this page has an owner' : 'No job has an owner'}
        />
      )}
      footer={({ next }) => (
        <Pager page="people" params={params} next={next}>
          {isPart && `A page has ${MAX_ACTIVE} active jobs, in the order of their ids.`}
        </Pager>
      )}
    />
  );
}

function columnsOf(isPart: boolean): Column<Share>[] {
  return [
    { title: 'Owner', cell: ({ owner }) => <a href={href('people', { owner })}>{owner}</a> },
    { title: 'Queue', cell: ({ queue }) => <QueueLink queue={queue} /> },
    {
      title: 'Jobs',
      isNumber: true,
      cell: ({ owner, queue, count }) => (
        <a href={href('people', { owner, queue })} aria-label={`Jobs of ${owner} in ${queue}: ${count}`}>
          {number(count)}
          {isPart && '+'}
        </a>
      ),
    },
    { title: 'Oldest', isNumber: true, cell: ({ oldest }) => <When at={oldest} /> },
  ];
}

/** Those with the oldest jobs first. */
function sharesOf(jobs: readonly JobRow[]): Share[] {
  const byOwner = new Map<string, Share>();
  for (const { owner, queue, startedAt } of jobs) {
    if (owner === null) continue;
    const key = JSON.stringify([owner, queue]);
    const { count = 0, oldest = startedAt } = byOwner.get(key) ?? {};
    byOwner.set(key, { owner, queue, count: count + 1, oldest: earlier(oldest, startedAt) });
  }
  return [...byOwner.values()].sort((a, b) => timeOf(a.oldest) - timeOf(b.oldest));
}

const timeOf = (at: string | null) => (at === null ? Infinity : Date.parse(at));

const earlier = (one: string | null, other: string | null) => (timeOf(other) < timeOf(one) ? other : one);
