import { useState } from 'preact/hooks';
import type { Job, Logs } from '../../answers.js';
import { clock, duration, errorName, short } from '../../format.js';
import { now } from '../../live/clock.js';
import { href } from '../../live/route.js';
import { Icon } from '../../parts/icons.js';
import { State } from '../../parts/state.js';
import { When } from '../../parts/when.js';
import { runsOf } from './segments.js';
import { Stack } from './stack.js';

type Run = ReturnType<typeof runsOf>[number];
type LogLine = Logs['lines'][number];

interface Props {
  readonly job: Job;
  /** Undefined without the right to read them. */
  readonly lines: readonly LogLine[] | undefined;
}

/** Each attempt with its error, its stack and its own log lines, newest first. */
export function Attempts({ job, lines }: Props) {
  const runs = runsOf(job, now.value).reverse();
  const [open, setOpen] = useState<ReadonlyMap<number, boolean>>(new Map());
  return (
    <ol class="attempts">
      {runs.map((run, index) => {
        const isOpen = open.get(run.attempt) ?? index === 0;
        const own = lines?.filter(({ at }) => isWithin(Date.parse(at), runs[index + 1], run, index === 0));
        return (
          <li
            key={`${run.attempt} ${run.result} ${run.result === 'failed' ? run.toMs : ''}`}
            class={isOpen ? 'open' : ''}
          >
            <AttemptHead
              {...{ job, run, isOpen }}
              onToggle={() => setOpen(new Map([...open, [run.attempt, !isOpen]]))}
            />
            {isOpen && (
              <div class="attempt-body">
                {run.worker && <RunBy worker={run.worker} />}
                {index === 0 && job.error?.stack && <Stack text={job.error.stack} />}
                {own && <LogLines lines={own} run={run} />}
              </div>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** Attempts of a job follow one another, so a line belongs to the first attempt that ended after it. */
function isWithin(atMs: number, before: Run | undefined, run: Run, isNewest: boolean): boolean {
  return (before === undefined || atMs > before.toMs) && (isNewest || atMs <= run.toMs);
}

interface HeadProps {
  readonly job: Job;
  readonly run: Run;
  readonly isOpen: boolean;
  onToggle(): void;
}

function AttemptHead({ job, run, isOpen, onToggle }: HeadProps) {
  const { attempt, result, fromMs, toMs } = run;
  const error =
    result === 'failed' ? job.errors.find((one) => one.attempt === attempt && Date.parse(one.at) === toMs) : undefined;
  const state = result === 'failed' ? 'dead' : result!;
  return (
    <button type="button" class="attempt-head" aria-expanded={isOpen} onClick={onToggle}>
      <Icon name={isOpen ? 'down' : 'chevron'} size={12} />
      <State state={state} text={`Attempt ${attempt}${result === 'failed' ? ' failed' : ''}`} />
      <span class="attempt-error">
        {error ? (
          <>
            <b>{errorName(error)}</b> {error.message}
          </>
        ) : result === 'active' ? (
          `runs ${job.owner === null ? '' : `by ${job.owner}`}`
        ) : (
          'completed'
        )}
      </span>
      <span class="soft nowrap">{toMs > fromMs ? duration(toMs - fromMs) : ''}</span>
      <span class="nowrap">
        <When at={result === 'active' ? fromMs : toMs} />
      </span>
    </button>
  );
}

function RunBy({ worker }: { worker: string }) {
  return (
    <p class="soft">
      On worker{' '}
      <a class="mono" href={href('jobs', { worker, state: 'active' })} aria-label={`Running jobs of worker ${worker}`}>
        {short(worker)}
      </a>
    </p>
  );
}

function LogLines({ lines, run }: { lines: readonly LogLine[]; run: Run }) {
  if (lines.length === 0) return <p class="soft">No log lines.</p>;
  const startMs = run.toMs > run.fromMs ? run.fromMs : Date.parse(lines[0]!.at);
  return (
    <table class="log" aria-label={`Log of attempt ${run.attempt}`}>
      <tbody>
        {lines.map(({ number, at, line }) => (
          <tr key={number}>
            <td class="soft">{clock(at, true)}</td>
            <td class="soft n">+{duration(Math.max(0, Date.parse(at) - startMs))}</td>
            <td>{line}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
