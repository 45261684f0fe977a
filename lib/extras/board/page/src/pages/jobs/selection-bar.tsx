import type { JobRow, Verb } from '../../answers.js';
import { plural } from '../../format.js';
import { rightsFor } from '../../live/rights.js';
import { BULK_VERBS, BulkButton, type JobFilter } from '../../parts/bulk.js';
import { Icon } from '../../parts/icons.js';

/** The actions on the selected jobs, above the end of the page. */
export function SelectionBar({ jobs, onClear }: { jobs: readonly JobRow[]; onClear: () => void }) {
  const ids = jobs.map(({ id }) => id);
  return (
    <div class="selection" role="region" aria-label="Selected jobs">
      <b role="status">{ids.length} selected</b>
      <span class="buttons aside">
        <BulkButtons verbs={verbsFor(jobs)} selection={() => ({ ids })} onDone={onClear} hasPrimary />
        <button type="button" class="icon-button" aria-label="Clear the selection" onClick={onClear}>
          <Icon name="close" />
        </button>
      </span>
    </div>
  );
}

/** The actions on all jobs of the filter. They need a queue, for which the viewer has rights. */
export function FilterActions({ filter, count }: { filter: JobFilter; count: number }) {
  const queue = filter['queue'];
  if (typeof queue !== 'string') return <span class="soft">Choose a queue to change all its jobs of a filter.</span>;
  const { verbs } = rightsFor(queue);
  if (!BULK_VERBS.some((verb) => verbs.includes(verb))) return <span class="soft">{plural(count, 'job')} here</span>;
  return (
    <div class="filter-actions" role="group" aria-label="All jobs of the filter">
      <span class="soft">All jobs of the filter:</span>
      <BulkButtons verbs={verbs} selection={() => ({ filter })} />
    </div>
  );
}

interface Props {
  readonly verbs: readonly Verb[];
  selection(): { ids: readonly number[] } | { filter: JobFilter };
  readonly onDone?: () => void;
  readonly hasPrimary?: boolean;
}

function BulkButtons({ verbs, selection, onDone, hasPrimary = false }: Props) {
  return (
    <span class="buttons">
      {BULK_VERBS.map((verb) => (
        <BulkButton
          key={verb}
          {...{ verbs, verb, selection }}
          isPrimary={hasPrimary && verb === 'retry'}
          {...(onDone && { onDone })}
        />
      ))}
    </span>
  );
}

/** The verbs that the viewer may use in all queues of the jobs. */
export function verbsFor(jobs: readonly JobRow[]): readonly Verb[] {
  const queues = [...new Set(jobs.map(({ queue }) => queue))];
  const [first = [], ...others] = queues.map((queue) => rightsFor(queue).verbs);
  return first.filter((verb) => others.every((verbs) => verbs.includes(verb)));
}
