import type { Job, Logs } from '../../answers.js';
import { plural } from '../../format.js';
import { may } from '../../live/rights.js';
import { usePages } from '../../live/read-pages.js';
import { Card, Failure } from '../../parts/layout.js';
import { Attempts } from './attempts.js';

const PAGE_SIZE = 200;

/** The attempts of the job with the newest log lines, and the button that shows older ones. */
export function Runs({ job }: { job: Job }) {
  const isAllowed = !job.isHidden && may('read-payload', job.queue);
  const logs = usePages<Logs>('logs', { id: job.id, order: 'newest', limit: PAGE_SIZE }, isAllowed);
  const failed = job.errors.length;
  const hasRuns = failed > 0 || job.startedAt !== null;
  // The newest lines come first from the server, and a log reads from the oldest to the newest.
  const lines = isAllowed ? logs.data?.pages.flatMap((page) => page.lines).reverse() : undefined;
  if (!hasRuns && !lines?.length && logs.error === undefined) return null;
  const older = logs.data?.next ? lines?.[0]?.number : undefined;
  return (
    <Card isFlush title="Attempts" aside={<span class="soft">{failed} failed, newest first</span>}>
      {logs.error && <Failure error={logs.error} reload={logs.reload} part="log lines" />}
      <Attempts job={job} lines={lines} hasOlder={older !== undefined} />
      {older !== undefined && (
        <footer class="pager">
          <span class="soft">
            The newest {plural(lines!.length, 'log line')} of {older + lines!.length - 1}
          </span>
          <button type="button" onClick={logs.showMore}>
            Show older lines
          </button>
        </footer>
      )}
    </Card>
  );
}
