import type { ComponentChildren } from 'preact';
import { href, type Params } from '../live/route.js';

export function JobLink({ id }: { id: number }) {
  return (
    <a class="mono job-link" href={href('job', { id })}>
      #{id}
    </a>
  );
}

export function QueueLink({ queue }: { queue: string }) {
  return (
    <a class="queue-link" href={href('queue', { queue })}>
      {queue}
    </a>
  );
}

interface PagerProps {
  readonly page: string;
  readonly params: Params;
  readonly next: string | null;
  /** The parameter with the start of the part, on a page with several lists. */
  readonly cursor?: string;
  readonly children?: ComponentChildren;
}

/** The links to the parts of a long list. */
export function Pager({ page, params, next, cursor = 'after', children }: PagerProps) {
  const { [cursor]: after, ...first } = params;
  if (!after && !next && !children) return null;
  return (
    <footer class="pager">
      <span class="soft">{children}</span>
      <span class="buttons">
        {after && (
          <a class="button" href={href(page, first)}>
            First page
          </a>
        )}
        {next && (
          <a class="button" href={href(page, { ...params, [cursor]: next })}>
            Next page
          </a>
        )}
      </span>
    </footer>
  );
}
