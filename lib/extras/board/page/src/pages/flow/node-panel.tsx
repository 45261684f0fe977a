import type { Flow, FlowJob, Job } from '../../answers.js';
import { errorName, number } from '../../format.js';
import { href } from '../../live/route.js';
import { useAnswer } from '../../live/use-read.js';
import { Card, Facts, Loaded } from '../../parts/layout.js';
import { QueueLink } from '../../parts/links.js';
import { JobState } from '../../parts/state.js';
import { When } from '../../parts/when.js';
import { nodeTitle, type DrawnNode } from './drawn-nodes.js';

const MAX_LINKS = 10;

interface Props {
  readonly flow: Flow;
  /** The selected one. */
  readonly node: DrawnNode | undefined;
}

/** The job, or the alike jobs, of the selected node. */
export function NodePanel({ flow, node }: Props) {
  if (!node) {
    return (
      <Card class="side-card" title="Selected job">
        <p class="soft">Select a job in the graph.</p>
      </Card>
    );
  }
  const { jobs } = node;
  const { id, queue, state } = jobs[0]!;
  const isStack = jobs.length > 1;
  const open = openNeeds(flow, jobs);
  return (
    <Card class="side-card" title={nodeTitle(node)}>
      <Facts
        entries={[
          ['State', !isStack && <JobState state={state} />],
          ['Queue', <QueueLink queue={queue} />],
          ['Jobs', isStack && <FlowJobs jobs={jobs} hrefOf={(job) => href('job', { id: job })} />],
          [
            'Waits for',
            open.length > 0 && <FlowJobs jobs={open} hrefOf={(job) => href('flow', { id: flow.id, job })} />,
          ],
        ]}
      />
      {!isStack && state !== 'removed' && <JobDetails id={id} />}
    </Card>
  );
}

/** The jobs that hold up blocked ones: they have not ended, or failed so that the blocked ones wait for their retry. */
function openNeeds(flow: Flow, jobs: readonly FlowJob[]): FlowJob[] {
  const needs = jobs.filter(({ state }) => state === 'blocked').flatMap((job) => job.needs);
  const open = needs.filter(
    ({ state, onFailure }) => state === null || (state !== 'completed' && onFailure === 'wait'),
  );
  const ids = new Set(open.map(({ id }) => id));
  return flow.jobs.filter(({ id }) => ids.has(id));
}

function FlowJobs({ jobs, hrefOf }: { jobs: readonly FlowJob[]; hrefOf: (id: number) => string }) {
  return (
    <ul class="flow-panel-jobs">
      {jobs.slice(0, MAX_LINKS).map(({ id, state }) => (
        <li key={id}>
          <a class="mono" href={hrefOf(id)}>
            #{id}
          </a>{' '}
          <JobState state={state} />
        </li>
      ))}
      {jobs.length > MAX_LINKS && <li class="soft">and {number(jobs.length - MAX_LINKS)} more</li>}
    </ul>
  );
}

/** The attempts and the error, which the flow does not have. */
function JobDetails({ id }: { id: number }) {
  const job = useAnswer<Job>('job', { id });
  return (
    <Loaded of={job} rows={3}>
      {({ attempt, maxAttempts, startedAt, finishedAt, runAt, error }) => (
        <>
          <Facts
            entries={[
              ['Attempts', maxAttempts === null ? number(attempt) : `${number(attempt)} of ${number(maxAttempts)}`],
              ['Due', runAt !== null && <When at={runAt} />],
              ['Started', startedAt !== null && <When at={startedAt} withClock />],
              ['Ended', finishedAt !== null && <When at={finishedAt} withClock />],
            ]}
          />
          {error && (
            <p class="error-inline">
              <b class="mono">{errorName(error)}</b> {error.message}
            </p>
          )}
          <div class="buttons">
            <a class="button" href={href('job', { id })}>
              {error ? 'Open the job with its stack' : 'Open the job'}
            </a>
          </div>
        </>
      )}
    </Loaded>
  );
}
