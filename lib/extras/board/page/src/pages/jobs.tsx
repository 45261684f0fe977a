import { useState } from 'preact/hooks';
import type { JobRow, Page } from '../answers.js';
import { plural } from '../format.js';
import { rightsFor } from '../live/rights.js';
import { go, href } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import { ActionButton } from '../parts/action.js';
import { jobsTable } from '../parts/jobs-table.js';
import { Empty, Loaded, PageHead, Segments } from '../parts/layout.js';
import { Pager } from '../parts/links.js';
import { useRows } from '../parts/rows.js';
import { Table } from '../parts/table.js';
import type { PageProps } from '../shell/pages.js';
import { FilterBar } from './jobs/filter-bar.js';
import { filterOf } from './jobs/job-filter.js';
import { FilterActions, SelectionBar } from './jobs/selection-bar.js';
import { useStableJobs } from './jobs/stable-jobs.js';
import { StateTabs } from './jobs/state-tabs.js';
import { enqueueAction } from './queue/enqueue-action.js';

const PAGE_SIZE = 50;
const ORDERS = [
  ['newest', 'Newest first'],
  ['oldest', 'Oldest first'],
] as const;

export function JobsPage({ params }: PageProps) {
  const key = href('jobs', params);
  const { after } = params;
  const order = params['order'] === 'oldest' ? 'oldest' : 'newest';
  const filter = filterOf(params);
  const list = useAnswer<Page<'jobs', JobRow>>('jobs', { ...filter, order, after, limit: PAGE_SIZE });
  const { rows, others, areNewer, left, showNewer } = useStableJobs(key, list, params['state']);
  const { selected, toggle, setSelected } = useSelection(key, rows);
  const at = useRows({
    count: rows.length,
    onOpen: (index) => go('job', { id: rows[index]!.id }),
    onSelect: (index) => toggle(rows[index]!.id),
  });
  const areAll = selected.length === rows.length;
  const toggleAll = () => setSelected(areAll ? [] : rows.map(({ id }) => id));
  const selection = { ids: new Set(selected.map(({ id }) => id)), areAll, toggle, toggleAll };
  const onOrder = (one: string) => go('jobs', { ...params, after: '', order: one === 'newest' ? '' : one });
  return (
    <>
      <Head queue={params['queue']} />
      <StateTabs params={params} />
      <FilterBar params={params} />
      <section class="card">
        <header class="card-head">
          <FilterActions filter={filter} count={rows.length} />
          <div class="aside">
            {left > 0 && <span class="soft">{plural(left, 'job')} left the filter</span>}
            {others > 0 && (
              <button type="button" class="newer" onClick={showNewer}>
                Show {othersText(others, areNewer, others === list.data?.jobs.length && list.data.next !== null)}
              </button>
            )}
            <Segments label="Order" value={order} options={ORDERS} onChange={onOrder} />
          </div>
        </header>
        <Loaded of={list} rows={12}>
          {({ next }) => (
            <>
              {rows.length === 0 ? (
                <NoJobs isMore={next !== null} />
              ) : (
                <Table {...jobsTable({ caption: 'Jobs', hasQueue: !params['queue'], at, selection })} rows={rows} />
              )}
              <Pager page="jobs" params={params} next={next} />
            </>
          )}
        </Loaded>
      </section>
      {selected.length > 0 && (
        <SelectionBar jobs={selected} listState={params['state']} onClear={() => setSelected([])} />
      )}
    </>
  );
}

/** @param isPage the others fill a page, so there may be more */
function othersText(count: number, areNewer: boolean, isPage: boolean): string {
  const kind = areNewer ? 'newer' : 'other';
  return isPage ? `${count}+ ${kind} jobs` : plural(count, `${kind} job`);
}

function Head({ queue }: { queue: string | undefined }) {
  if (!queue) return <PageHead title="Jobs" />;
  const buttons = <ActionButton verbs={rightsFor(queue).verbs} action={enqueueAction(queue)} icon="plus" />;
  return <PageHead title={`Jobs of ${queue}`} buttons={buttons} />;
}

/** The chosen rows of the list with this key. */
function useSelection(key: string, rows: readonly JobRow[]) {
  const [chosen, setChosen] = useState<{ key: string; ids: readonly number[] }>({ key, ids: [] });
  const ids = chosen.key === key ? chosen.ids : [];
  const setSelected = (next: readonly number[]) => setChosen({ key, ids: next });
  return {
    selected: rows.filter(({ id }) => ids.includes(id)),
    setSelected,
    toggle: (id: number) => setSelected(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]),
  };
}

function NoJobs({ isMore }: { isMore: boolean }) {
  if (isMore) return <Empty icon="search" title="None of these jobs matches. The next page searches on." />;
  return (
    <Empty icon="search" title="No jobs">
      <a href={href('jobs')}>Clear the filter</a>
    </Empty>
  );
}
