import { read } from '../api.js';
import type { PastTicks, Schedule } from '../answers.js';
import { duration } from '../format.js';
import { rightsFor } from '../live/rights.js';
import { href } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import { ActionButton, type Action } from '../parts/action.js';
import { ask } from '../parts/dialog.js';
import { JsonValue } from '../parts/json-tree.js';
import { Empty, PageHead } from '../parts/layout.js';
import { JobLink, QueueLink } from '../parts/links.js';
import { ListCard } from '../parts/list-card.js';
import { State } from '../parts/state.js';
import { actionsColumn, type Column } from '../parts/table.js';
import { announceError } from '../parts/toasts.js';
import { toggleAction } from '../parts/toggle.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { DayStrip, HourMarks } from './schedules/day-strip.js';
import { CronWords, TickTimes } from './schedules/next-ticks.js';
import { PastTickList } from './schedules/past-ticks.js';
import { createAction, editAction, removeAction } from './schedules/schedule-form.js';

const EVERY_MS = 15_000;
const PREVIEWED = 10;
// The server computes the ticks of so many.
const MAX_ROWS = 50;

const COLUMNS: readonly Column<Schedule>[] = [
  { title: 'Schedule', isUnlabelled: true, cell: (row) => <Name schedule={row} /> },
  { title: 'Queue', cell: ({ queue }) => <QueueLink queue={queue} /> },
  { title: 'Times', class: 'times-cell', cell: (row) => <Times schedule={row} /> },
  {
    title: 'Next 24 hours',
    class: 'ticks-cell',
    head: () => <HourMarks />,
    cell: ({ ticks }) => <DayStrip ticks={ticks} />,
  },
  { title: 'Next', isNumber: true, cell: (row) => <Next schedule={row} /> },
  { title: 'Last', isNumber: true, cell: (row) => <Last schedule={row} /> },
  actionsColumn((row) => <Buttons schedule={row} />),
];

interface Answer {
  readonly schedules: Schedule[];
  readonly creatableIn: string[];
}

/** The schedules with their ticks of the next 24 hours, in the time zone of the viewer. */
export function SchedulesPage({ params: { name } }: PageProps) {
  const list = useAnswer<Answer>('schedules', {}, EVERY_MS);
  const creatableIn = list.data?.creatableIn ?? [];
  return (
    <>
      <PageHead
        title="Schedules"
        buttons={
          creatableIn.length > 0 && (
            <ActionButton verbs={['create-schedule']} action={createAction(creatableIn)} icon="plus" isPrimary />
          )
        }
      >
        <span class="soft">the next 24 hours in your time zone</span>
      </PageHead>
      <ListCard
        of={list}
        skeleton={8}
        rowsOf={({ schedules }) => (name ? schedules.filter((one) => one.name === name) : schedules)}
        table={{ class: 'schedule-grid', caption: 'Schedules', keyOf: (one) => one.name, columns: COLUMNS }}
        first={['schedules', MAX_ROWS]}
        empty={() => <NoSchedules name={name} />}
        footer={() => name && <AllSchedules />}
      />
    </>
  );
}

function NoSchedules({ name }: { name: string | undefined }) {
  if (name)
    return (
      <Empty icon="schedules" title={`There is no schedule "${name}"`}>
        It was removed, or you have no right to read it.
      </Empty>
    );
  return (
    <Empty icon="schedules" title="No schedules">
      A handler declares one with @Schedule, and QueueSchedules stores one.
    </Empty>
  );
}

/** Beside the one schedule to which a job links. */
function AllSchedules() {
  return (
    <footer class="pager">
      <a class="button" href={href('schedules')}>
        All schedules
      </a>
    </footer>
  );
}

function Name({ schedule: { name, isPaused, nextAt, source, revision } }: { schedule: Schedule }) {
  const state = isPaused ? 'paused' : nextAt === null ? 'idle' : 'scheduled';
  const word = isPaused ? 'paused' : nextAt === null ? 'ended' : 'on';
  return (
    <>
      <State state={state} text={<b>{name}</b>} />
      <span class="soft block">
        {word}, from {source}
        {revision !== null && `, revision ${revision}`}
      </span>
    </>
  );
}

function Times({ schedule: { cron, everyMs, tz, overlap } }: { schedule: Schedule }) {
  return (
    <>
      <span class="mono">{cron ?? `every ${duration(everyMs)}`}</span>
      {cron !== null && (
        <span class="tag" title={tz}>
          {tz}
        </span>
      )}
      {overlap !== 'allow' && <span class="tag">overlap: {overlap}</span>}
      {cron !== null && <CronWords cron={cron} tz={tz} />}
    </>
  );
}

function Next({ schedule: { nextAt, isLate } }: { schedule: Schedule }) {
  return (
    <span class={isLate ? 'warn' : ''}>
      <When at={nextAt} />
      {isLate && ', late'}
    </span>
  );
}

function Last({ schedule: { lastAt, lastJobId } }: { schedule: Schedule }) {
  return (
    <>
      <When at={lastAt} /> {lastJobId !== null && <JobLink id={lastJobId} />}
    </>
  );
}

function Buttons({ schedule }: { schedule: Schedule }) {
  const { name, queue, isPaused, source } = schedule;
  const { verbs } = rightsFor(queue);
  const runNow: Action = {
    ...{ verb: 'run-schedule', text: 'Run now', label: `Run now: ${name}`, confirm: `Enqueue a job of ${name} now?` },
    body: () => ({ name }),
    done: ({ id }) => `Job ${id} of ${name} is enqueued.`,
  };
  const toggle = toggleAction(isPaused, {
    ...{ name, suffix: '-schedule', body: { name } },
    done: (past) => `Schedule ${name} is ${past}.`,
  });
  return (
    <>
      <button type="button" aria-label={`Next ticks of ${name}`} onClick={() => void preview(schedule)}>
        Ticks
      </button>
      <ActionButton verbs={verbs} action={runNow} />
      <ActionButton verbs={verbs} action={toggle} icon={isPaused ? 'play' : 'paused'} isIcon />
      {source === 'api' && (
        <>
          <ActionButton verbs={verbs} action={editAction(schedule)} icon="edit" isIcon />
          <ActionButton verbs={verbs} action={removeAction(schedule)} icon="removed" isIcon />
        </>
      )}
    </>
  );
}

async function preview({ name, queue, payload }: Schedule): Promise<void> {
  try {
    const [{ ticks }, past] = await Promise.all([
      read<{ ticks: string[] }>('preview', { name, count: PREVIEWED }),
      read<PastTicks>('past-ticks', { name }),
    ]);
    const content = (
      <>
        <TickTimes ticks={ticks} />
        <h3>Last jobs</h3>
        <PastTickList queue={queue} name={name} past={past} />
        {payload && (
          <>
            <h3>Payload</h3>
            <JsonValue shown={payload} name="payload" />
          </>
        )}
      </>
    );
    ask({ title: `Next ticks of ${name}`, content, submit: 'Close', isNotice: true });
  } catch (error) {
    announceError(error);
  }
}
