import type { Problem } from '../../answers.js';
import { LastHour } from '../../charts/sparkline.js';
import { clock, duration, sum } from '../../format.js';
import { now } from '../../live/clock.js';
import { lines } from '../../live/live.js';
import { href } from '../../live/route.js';
import { Icon } from '../../parts/icons.js';
import { QueueLink } from '../../parts/links.js';
import { ageOf, keyOf, titleOf } from '../../parts/problem-text.js';
import { ProblemButtons } from './problem-buttons.js';

/** A problem with its course, its start and the buttons that help. */
export function ProblemCard({ problem }: { problem: Problem }) {
  const { severity, queue, message, since } = problem;
  const age = ageOf(problem, now.value);
  return (
    <article class={`problem-card p-${severity}`}>
      <header>
        <Icon name={severity} size={15} />
        <span class="hidden">{severity}: </span>
        {queue === null ? <span>Worker</span> : <QueueLink queue={queue} />}
        <Trend problem={problem} />
      </header>
      <h2>{titleOf(problem)}</h2>
      <p class="detail">{message}</p>
      <div class="problem-course">
        <Course queue={queue} />
        {since !== null && (
          <span class="since">
            <b>{duration(age)}</b>
            <span class="soft">since {clock(since)}</span>
          </span>
        )}
      </div>
      <footer class="buttons">
        <ProblemButtons problem={problem} />
      </footer>
    </article>
  );
}

function Trend({ problem: { isGettingWorse } }: { problem: Problem }) {
  if (isGettingWorse === null) return null;
  const trend = isGettingWorse ? 'worse' : 'steady';
  return (
    <span class={`trend tr-${trend}`}>
      <Icon name={trend} size={12} />
      {isGettingWorse ? 'getting worse' : 'not getting worse'}
    </span>
  );
}

function Course({ queue }: { queue: string | null }) {
  const line = queue === null ? undefined : lines.value?.get(queue);
  if (queue !== null && !line) return <span class="spark-none">attempts of the last hour: not known</span>;
  if (!line || sum(line.completed) + sum(line.failed) === 0)
    return <span class="spark-none">{queue === null ? '' : 'no attempts in the last hour'}</span>;
  const label = `${queue} in the last hour`;
  return <LastHour line={line} width={240} height={34} label={label} />;
}

/** The problems after the first ones. */
export function ProblemLinks({ problems }: { problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="further" aria-label="Further problems">
      {problems.map((problem) => (
        <li key={keyOf(problem)}>
          <a
            href={problem.queue === null ? href('workers') : href('queue', { queue: problem.queue })}
            title={problem.message}
          >
            <span class={`s-${problem.severity}`}>
              <Icon name={problem.severity} size={14} />
            </span>
            {problem.queue !== null && <b>{problem.queue}</b>}
            {titleOf(problem)}
            <span class="soft">{problem.since === null ? '' : duration(ageOf(problem, now.value))}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
