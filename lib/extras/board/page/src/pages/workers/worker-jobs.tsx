import type { JobRow, Page } from '../../answers.js';
import { href } from '../../live/route.js';
import { useAnswer } from '../../live/use-read.js';
import { Loaded } from '../../parts/layout.js';
import { JobLink, QueueLink } from '../../parts/links.js';
import { Table, type Column } from '../../parts/table.js';
import { When } from '../../parts/when.js';

const MAX_JOBS = 20;

const attemptOf = ({ attempt, maxAttempts }: JobRow) => (maxAttempts === null ? attempt : `${attempt}/${maxAttempts}`);

const COLUMNS: readonly Column<JobRow>[] = [
  { title: 'Job', isUnlabelled: true, cell: ({ id }) => <JobLink id={id} /> },
  { title: 'Queue', isUnlabelled: true, cell: ({ queue }) => <QueueLink queue={queue} /> },
  { title: 'Attempt', isNumber: true, cell: attemptOf },
  { title: 'Since', isNumber: true, cell: ({ startedAt }) => <When at={startedAt} /> },
];

/** The first jobs that the worker has claimed, by their ids. */
export function WorkerJobs({ worker }: { worker: string }) {
  const query = { worker, state: 'active', order: 'oldest', limit: MAX_JOBS };
  const list = useAnswer<Page<'jobs', JobRow>>('jobs', query);
  return (
    <Loaded of={list} rows={2}>
      {({ jobs, next }) => (
        <>
          {jobs.length === 0 ? (
            <p class="soft">No running jobs</p>
          ) : (
            <Table
              class="slim"
              caption={`Running jobs of worker ${worker}`}
              rows={jobs}
              keyOf={({ id }) => id}
              columns={COLUMNS}
            />
          )}
          {next !== null && (
            <p class="soft">
              The first {jobs.length}. <a href={href('jobs', { worker, state: 'active' })}>All running jobs</a>
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}
