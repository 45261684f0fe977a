import { useEffect } from 'preact/hooks';
import type { Job, Shown } from '../answers.js';
import { short } from '../format.js';
import { rightsFor } from '../live/rights.js';
import { href } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import { ActionButton, startAction } from '../parts/action.js';
import { Icon } from '../parts/icons.js';
import { Copy } from '../parts/copy.js';
import { JsonValue } from '../parts/json-tree.js';
import { Card, Facts, Loaded, PageHead } from '../parts/layout.js';
import { QueueLink } from '../parts/links.js';
import { Menu } from '../parts/menu.js';
import { isElsewhere } from '../parts/rows.js';
import { iconOf, Pill, toneOf } from '../parts/state.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { ErrorBox } from './job/error-box.js';
import { actionsOf, retry } from './job/job-actions.js';
import { Life } from './job/life.js';
import { Reasons } from './job/reasons.js';
import { Relatives } from './job/relatives.js';
import { Runs } from './job/runs.js';
import { Steps, stepsOf, useSteps } from './job/steps.js';

const FINISHED = ['completed', 'dead', 'cancelled'];

export function JobPage({ params }: PageProps) {
  const { id = '' } = params;
  const job = useAnswer<Job>('job', { id });
  return (
    <>
      <Head id={id} job={job.data} />
      <Loaded of={job} rows={12}>
        {(known) => <Trace key={known.id} job={known} />}
      </Loaded>
    </>
  );
}

function Head({ id, job }: { id: string; job: Job | undefined }) {
  const crumbs = job
    ? ([['Queues', href('overview')], [job.queue, href('queue', { queue: job.queue })], [`#${id}`]] as const)
    : ([['Jobs', href('jobs')], [`#${id}`]] as const);
  const title = (
    <>
      {job ? nameOf(job) : 'Job'} <span class="soft mono">#{id}</span>
    </>
  );
  return (
    <PageHead title={title} crumbs={crumbs} buttons={job && <Buttons job={job} />}>
      {job && (
        <Pill tone={toneOf(job.state)} icon={iconOf(job.state)}>
          {job.state}
          {job.state === 'dead' && job.maxAttempts !== null && ` after ${job.attempt} of ${job.maxAttempts} attempts`}
        </Pill>
      )}
    </PageHead>
  );
}

/** Most jobs have no name of their own. */
const nameOf = ({ name, queue }: Job) => (name === 'default' ? queue : name);

function Buttons({ job }: { job: Job }) {
  const { verbs } = rightsFor(job.queue);
  const { main, more } = actionsOf(job);
  const allowed = more.filter(({ verb }) => verbs.includes(verb));
  const canRetry = FINISHED.includes(job.state) && verbs.includes('retry');
  useEffect(() => {
    if (!canRetry) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'r' && !isElsewhere(event)) void startAction(retry(job));
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [canRetry, job]);
  return (
    <>
      {main.map((action, index) => (
        <ActionButton
          key={action.verb}
          {...{ verbs, action }}
          isPrimary={index === 0 && !action.isDangerous}
          {...(action.verb === 'retry' && { icon: 'retry', hotkey: 'r' })}
        />
      ))}
      {allowed.length > 0 && (
        <Menu>
          {allowed.map((action) => (
            <ActionButton key={action.verb} {...{ verbs, action }} />
          ))}
        </Menu>
      )}
    </>
  );
}

function Trace({ job }: { job: Job }) {
  const steps = useSteps(job);
  return (
    <>
      <ErrorBox job={job} />
      <Card title="Life" class="life">
        <Life job={job} steps={stepsOf(steps.data)} isPartial={!!steps.data?.next} />
      </Card>
      <div class="split">
        <div class="col">
          {!FINISHED.includes(job.state) && <Reasons job={job} />}
          <Runs job={job} />
          <Steps job={job} of={steps} />
          {job.isHidden ? (
            <Card title="Payload">
              <p class="soft">
                <Icon name="lock" size={14} /> Payload, headers, result, progress, log lines and stack: you have no
                right to read them.
              </p>
            </Card>
          ) : (
            <>
              <Value title="Payload" shown={job.payload} />
              <Value title="Progress" shown={job.progress} />
              <Value title="Result" shown={job.result} />
            </>
          )}
        </div>
        <div class="col rail">
          <JobFacts job={job} />
          {job.flow !== null && <Relatives id={job.id} flow={job.flow} />}
          <Value title="Headers" shown={job.headers} />
        </div>
      </div>
    </>
  );
}

function Value({ title, shown }: { title: string; shown: Shown | null }) {
  if (!shown || shown.text === '{}') return null;
  return (
    <Card title={title} class="value-card">
      <JsonValue shown={shown} name={title.toLowerCase()} />
    </Card>
  );
}

function JobFacts({ job }: { job: Job }) {
  const { queue, name, priority, key, group, flow, schedule, traceId, attempt, maxAttempts, worker, owner, state } =
    job;
  const moment = (at: string | null) => at !== null && <When at={at} withClock withSeconds />;
  return (
    <Card title="Facts">
      <Facts
        entries={[
          ['Queue', <QueueLink queue={queue} />],
          ['Name', name],
          ['Attempts', `${attempt}${maxAttempts === null ? '' : ` of ${maxAttempts}`}`],
          ['Priority', String(priority)],
          [
            'Key',
            key !== null && (
              <a class="mono" href={href('jobs', { key })}>
                {key}
              </a>
            ),
          ],
          ['Group', group !== null && <a href={href('jobs', { queue, group })}>{group}</a>],
          ['Flow', flow !== null && <a href={href('flow', { id: flow })}>{flow}</a>],
          ['Schedule', schedule !== null && <a href={href('schedules', { name: schedule.name })}>{schedule.name}</a>],
          [
            'Trace',
            traceId !== null && (
              <>
                <span class="mono" title={traceId}>
                  {short(traceId)}
                </span>
                <Copy text={traceId} label="Copy the trace id" />
              </>
            ),
          ],
          ['Owner', owner !== null && <a href={href('people', { owner })}>{owner}</a>],
          [
            'Worker',
            worker !== null && (
              <a class="mono" href={href('jobs', { worker, state: state === 'active' ? state : '' })} title={worker}>
                {short(worker)}
              </a>
            ),
          ],
          ['Enqueued', moment(job.createdAt)],
          ['Due', moment(job.runAt)],
          ['Was due', moment(job.dueAt)],
          ['Started', moment(job.startedAt)],
          ['Ended', moment(job.finishedAt)],
        ]}
      />
    </Card>
  );
}
