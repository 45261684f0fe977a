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
  /** There are older lines than these. */
  readonly hasOlder: boolean;
}

/** Each attempt with its error, its stack and its own log lines, newest first, and the lines of no shown attempt. */
export function Attempts({ job, lines, hasOlder }: Props) {
  const runs = runsOf(job, now.value).reverse();
  const byRun = lines && linesByRun(lines, runs);
  const others = byRun?.get(null) ?? [];
  const [open, setOpen] = useState<ReadonlyMap<number, boolean>>(new Map());
  return (
    <ol class="attempts">
      {runs.map((run, index) => {
        const isOpen = open.get(run.attempt) ?? index === 0;
        const own = byRun?.get(run);
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
                {own?.length === 0 && <p class="soft">No log lines{hasOlder && ' among the newest ones'}.</p>}
                {own && own.length > 0 && (
                  <LogLines lines={own} label={`Log of attempt ${run.attempt}`} fromMs={startOf(run, own)} />
                )}
              </div>
            )}
          </li>
        );
      })}
      {others.length > 0 && (
        <li class="open">
          <div class="attempt-body">
            <p class="soft">Of other runs, which ended without an error:</p>
            <LogLines lines={others} label="Log of other runs" fromMs={Date.parse(others[0]!.at)} />
          </div>
        </li>
      )}
    </ol>
  );
}

/**
 * The lines of each run; null: of none. Runs that slept, were snoozed or released leave no trace but their lines, and of
 * failed attempts the job keeps the last 25.
 */
function linesByRun(lines: readonly LogLine[], runs: readonly Run[]): Map<Run | null, LogLine[]> {
  const byRun = new Map<Run | null, LogLine[]>([null, ...runs].map((run) => [run, []]));
  for (const line of lines) {
    const atMs = Date.parse(line.at);
    const index = runs.findIndex((run, at) => isWithin(atMs, run, runs[at + 1]));
    byRun.get(runs[index] ?? null)!.push(line);
  }
  return byRun;
}

// The age of a line is rounded.
const TOLERANCE_MS = 10;
// The start of a run that has not failed is calculated from its commit, so it is late by the time that the commit took.
const COMMIT_MS = 1_000;

function isWithin(atMs: number, run: Run, before: Run | undefined): boolean {
  const hasFailed = run.result === 'failed';
  // Only the end of a run of an earlier release is known: lines since the run before are its own.
  const fromMs = run.fromMs === run.toMs ? -Infinity : run.fromMs - (hasFailed ? TOLERANCE_MS : COMMIT_MS);
  const toMs = hasFailed ? run.toMs + TOLERANCE_MS : Infinity;
  return atMs >= fromMs && atMs <= toMs && (before === undefined || atMs > before.toMs);
}

const startOf = ({ fromMs, toMs }: Run, lines: readonly LogLine[]) =>
  toMs > fromMs ? fromMs : Date.parse(lines[0]!.at);

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

function LogLines({ lines, label, fromMs }: { lines: readonly LogLine[]; label: string; fromMs: number }) {
  return (
    <table class="log" aria-label={label}>
      <tbody>
        {lines.map(({ number, at, line }) => (
          <tr key={number}>
            <td class="soft">{clock(at, true)}</td>
            <td class="soft n">+{duration(Math.max(0, Date.parse(at) - fromMs))}</td>
            <td>{line}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
