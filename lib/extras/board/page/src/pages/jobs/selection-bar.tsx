import type { JobRow, Verb } from '../../answers.js';
import { plural } from '../../format.js';
import { rightsFor } from '../../live/rights.js';
import { BULK_VERBS, BulkButton, type JobFilter, type Selection } from '../../parts/bulk.js';
import { Icon } from '../../parts/icons.js';

interface SelectionProps {
  readonly jobs: readonly JobRow[];
  /** The state of the filter. */
  readonly listState: string | undefined;
  readonly onClear: () => void;
}

/** The actions on the selected jobs, above the end of the page. */
export function SelectionBar({ jobs, listState, onClear }: SelectionProps) {
  const ids = jobs.map(({ id }) => id);
  return (
    <div class="selection" role="region" aria-label="Selected jobs">
      <b role="status">{ids.length} selected</b>
      <span class="buttons aside">
        <BulkButtons
          verbs={verbsFor(jobs)}
          selection={() => ({ ids, listState })}
          states={jobs.map(({ state }) => state)}
          onDone={onClear}
          hasPrimary
        />
        <button type="button" class="icon-button" aria-label="Clear the selection" onClick={onClear}>
          <Icon name="close" />
        </button>
      </span>
    </div>
  );
}

/** The actions on all jobs of the filter. They need a queue, for which the viewer has rights. */
export function FilterActions({ filter, count }: { filter: JobFilter; count: number }) {
  const { queue, state } = filter as Readonly<Record<string, string | undefined>>;
  if (typeof queue !== 'string') return <span class="soft">Choose a queue to change all its jobs of a filter.</span>;
  const { verbs } = rightsFor(queue);
  if (!BULK_VERBS.some((verb) => verbs.includes(verb))) return <span class="soft">{plural(count, 'job')} here</span>;
  return (
    <div class="filter-actions" role="group" aria-label="All jobs of the filter">
      <span class="soft">All jobs of the filter:</span>
      <BulkButtons verbs={verbs} selection={() => ({ filter })} states={state ? [state] : undefined} />
    </div>
  );
}

interface Props {
  readonly verbs: readonly Verb[];
  selection(): Selection;
  readonly states: readonly string[] | undefined;
  readonly onDone?: () => void;
  readonly hasPrimary?: boolean;
}

function BulkButtons({ verbs, selection, states, onDone, hasPrimary = false }: Props) {
  return (
    <span class="buttons">
      {BULK_VERBS.map((verb) => (
        <BulkButton
          key={verb}
          {...{ verbs, verb, selection, states }}
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
