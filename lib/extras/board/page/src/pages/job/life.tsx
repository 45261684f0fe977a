import type { Job } from '../../answers.js';
import { clock, duration, sum } from '../../format.js';
import { now } from '../../live/clock.js';
import { Icon } from '../../parts/icons.js';
import { iconOf } from '../../parts/state.js';
import { When } from '../../parts/when.js';
import { segmentsOf, type Segment } from './segments.js';
import type { Step } from './steps.js';

// Runs of milliseconds and waits of hours must both be visible, so widths grow with the logarithm of the time.
const weightOf = ({ fromMs, toMs }: Segment) => Math.log10(1 + Math.max(toMs - fromMs, 1) / 20) + 0.35;
const lengthOf = ({ fromMs, toMs }: Segment) => toMs - fromMs;

interface Props {
  readonly job: Job;
  readonly steps: readonly Step[];
  /** The job has further steps. */
  readonly isPartial: boolean;
}

/** The life of a job on one strip: how long it waited, each attempt, each sleep and wait for a signal, and its end. */
export function Life({ job, steps, isPartial }: Props) {
  const parts = segmentsOf(job, steps, now.value);
  const total = sum(parts.map(weightOf));
  const all = parts.length === 0 ? 0 : parts.at(-1)!.toMs - parts[0]!.fromMs;
  const ran = sum(parts.filter(({ kind }) => kind === 'run').map(lengthOf));
  return (
    <>
      <ol class="strip" aria-label="Life of the job">
        {parts.map((part, index) => (
          <Part key={index} part={part} before={sum(parts.slice(0, index).map(weightOf)) / total} total={total} />
        ))}
        <li class="part end">
          <span class="part-name" aria-hidden="true">
            &nbsp;
          </span>
          <span class={`part-end s-${job.state}`}>
            <Icon name={iconOf(job.state)} />
          </span>
          <span class="part-time">{job.state}</span>
        </li>
      </ol>
      <p class="strip-foot">
        <span>
          Enqueued <When at={job.createdAt} withClock withSeconds />
        </span>
        <span>
          {duration(all)} in all, {duration(ran)} of it running
        </span>
        {isPartial && <span>Sleeps and waits of the shown steps</span>}
        {job.finishedAt !== null && (
          <span>
            Ended <When at={job.finishedAt} withClock withSeconds />
          </span>
        )}
      </p>
    </>
  );
}

function Part({ part, before, total }: { part: Segment; before: number; total: number }) {
  const { kind, result, fromMs, toMs } = part;
  const share = weightOf(part) / total;
  const style = {
    flexGrow: Math.round(share * 1000),
    '--x': `${(before * 100).toFixed(1)}%`,
    '--w': `${(share * 100).toFixed(1)}%`,
  };
  const length = toMs - fromMs;
  return (
    <li class={`part ${kind} ${result ?? ''}`} style={style} title={titleOf(part)}>
      <span class="part-name">{nameOf(part)}</span>
      <span class="part-bar">
        {result === 'failed' && <Icon name="close" size={11} />}
        {result === 'completed' && <Icon name="completed" size={12} />}
      </span>
      <span class="part-time">
        {kind === 'step' ? `until ${clock(toMs, true)}` : length === 0 ? resultOf(result) : duration(length)}
      </span>
      <span class="part-clock">{kind === 'run' ? clock(toMs, true) : ''}</span>
    </li>
  );
}

// The database has the end of a sleep only.
function titleOf({ kind, fromMs, toMs }: Segment): string {
  return kind === 'step'
    ? `until ${clock(toMs, true)}, begun after ${clock(fromMs, true)}`
    : `${clock(fromMs, true)} to ${clock(toMs, true)}`;
}

function nameOf({ kind, attempt, toMs, step }: Segment): string {
  if (step) return `${step.signalKey === null && step.state !== 'waiting' ? 'Sleep' : 'Signal'} ${step.name}`;
  if (kind === 'run') return `Attempt ${attempt}`;
  return toMs > now.value ? 'Waits' : 'Waited';
}

const resultOf = (result: Segment['result']) => result ?? '';
