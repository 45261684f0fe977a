import { useState } from 'preact/hooks';
import type { Flow, FlowJob } from '../answers.js';
import { plural } from '../format.js';
import { rightsFor } from '../live/rights.js';
import { href } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import { ActionButton, type Action } from '../parts/action.js';
import { useFirstRows } from '../parts/first-rows.js';
import { Card, Empty, Loaded, PageHead, Segments } from '../parts/layout.js';
import { JobLink, QueueLink } from '../parts/links.js';
import { iconOf, JobState, Pill, State, type Tone } from '../parts/state.js';
import { Table, type Column } from '../parts/table.js';
import { When } from '../parts/when.js';
import type { PageProps } from '../shell/pages.js';
import { FlowList } from './flows.js';
import { drawnNodes } from './flow/drawn-nodes.js';
import { FlowGraph } from './flow/graph.js';
import { NodePanel } from './flow/node-panel.js';
import { FLOW_JOB_STATES, StackBar } from './flow/stack-bar.js';

const VIEWS = [
  ['stacked', 'Stacked'],
  ['all', 'All jobs'],
] as const;
// More nodes take seconds to lay out.
const MAX_DRAWN = 300;

export function FlowPage({ params }: PageProps) {
  const { id } = params;
  return id ? <OneFlow id={id} job={params['job']} /> : <FlowList params={params} />;
}

/** @param job the id of the selected one */
function OneFlow({ id, job }: { id: string; job: string | undefined }) {
  const flow = useAnswer<Flow>('flow', { id });
  const crumbs = [['Flows', href('flow')], [`Flow ${id}`]] as const;
  return (
    <>
      <PageHead title={`Flow ${id}`} crumbs={crumbs} buttons={flow.data && <Buttons flow={flow.data} />}>
        {flow.data && <Status jobs={flow.data.jobs} />}
      </PageHead>
      <Loaded of={flow} rows={12}>
        {(known) => <FlowContent flow={known} job={job} />}
      </Loaded>
    </>
  );
}

function Status({ jobs }: { jobs: readonly FlowJob[] }) {
  const { tone, icon, text } = statusOf(jobs);
  return (
    <Pill tone={tone} icon={iconOf(icon)}>
      {text}
    </Pill>
  );
}

function statusOf(jobs: readonly FlowJob[]): { tone: Tone; icon: string; text: string } {
  const count = (...states: string[]) => jobs.filter(({ state }) => states.includes(state)).length;
  const [dead, blocked, open] = [count('dead'), count('blocked'), count('waiting', 'active', 'scheduled')];
  if (dead > 0 && blocked > 0) return { tone: 'broken', icon: 'dead', text: `stuck: ${dead} dead, ${blocked} blocked` };
  if (dead > 0) return { tone: 'broken', icon: 'dead', text: `${dead} dead` };
  if (open + blocked > 0) return { tone: 'active', icon: 'active', text: `${plural(open + blocked, 'job')} to end` };
  const cancelled = count('cancelled');
  if (cancelled > 0) return { tone: 'idle', icon: 'cancelled', text: `${cancelled} cancelled` };
  return { tone: 'ok', icon: 'completed', text: 'completed' };
}

function Buttons({ flow: { id, jobs } }: { flow: Flow }) {
  const { verbs } = rightsFor(jobs[0]?.queue);
  const body = () => ({ id });
  const retry: Action = {
    ...{ verb: 'retry-flow', text: 'Retry failed jobs', body },
    confirm: `Retry the dead and cancelled jobs of flow ${id}?`,
    done: ({ changed }) => `${changed} jobs of flow ${id} are retried.`,
  };
  const cancel: Action = {
    ...{ verb: 'cancel-flow', text: 'Cancel flow', body, isDangerous: true, confirm: `Cancel flow ${id}?` },
    done: ({ changed }) => `${changed} jobs of flow ${id} are cancelled.`,
  };
  return (
    <>
      <ActionButton verbs={verbs} action={retry} icon="retry" isPrimary={jobs.some(({ state }) => state === 'dead')} />
      <ActionButton verbs={verbs} action={cancel} />
    </>
  );
}

const COLUMNS: readonly Column<FlowJob>[] = [
  { title: 'Job', isUnlabelled: true, cell: ({ id }) => <JobLink id={id} /> },
  { title: 'State', cell: ({ state }) => <JobState state={state} /> },
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Queue', cell: ({ queue }) => <QueueLink queue={queue} /> },
  {
    title: 'Needs',
    cell: ({ needs }) => (
      <span class="job-links">
        {needs.map(({ id }) => (
          <JobLink key={id} id={id} />
        ))}
      </span>
    ),
  },
];

function FlowContent({ flow, job }: { flow: Flow; job: string | undefined }) {
  const [view, setView] = useState<'stacked' | 'all'>('stacked');
  const nodes = drawnNodes(flow, view === 'stacked');
  const { jobs } = flow;
  const { rows, footer } = useFirstRows(jobs, 'jobs');
  const selectedId = job === undefined ? jobs.find(({ state }) => state === 'dead')?.id : Number(job);
  const selected = nodes.find((node) => node.jobs.some(({ id }) => id === selectedId));
  const label = `Graph of ${plural(jobs.length, 'job')}. The table below has the same in words.`;
  const onView = (one: 'stacked' | 'all') => setView(one);
  return (
    <>
      <Progress flow={flow} />
      <div class="flow-split">
        <Card
          isFlush
          class="graph-card"
          title="Graph"
          aside={<Segments label="Alike jobs" value={view} options={VIEWS} onChange={onView} />}
        >
          {nodes.length > MAX_DRAWN ? (
            <Empty icon="flow" title={`The graph of ${nodes.length} jobs is too large to draw.`} />
          ) : (
            <FlowGraph key={view} flow={flow.id} nodes={nodes} selected={selected?.key} label={label} />
          )}
        </Card>
        <NodePanel flow={flow} node={selected} />
      </div>
      <Card isFlush title="Jobs">
        <Table
          class="flow-grid"
          caption="Jobs of the flow, each after those that it needs"
          rows={rows}
          keyOf={({ id }) => id}
          columns={COLUMNS}
        />
        {footer}
      </Card>
    </>
  );
}

function Progress({ flow: { jobs, createdAt } }: { flow: Flow }) {
  const counts = FLOW_JOB_STATES.map((state) => [state, jobs.filter((job) => job.state === state).length] as const);
  const given = counts.filter(([, count]) => count > 0);
  return (
    <div class="flow-progress">
      <StackBar counts={Object.fromEntries(given)} />
      {given.map(([state, count]) => (
        <State
          key={state}
          state={state}
          text={
            <>
              <b>{count}</b> {state}
            </>
          }
        />
      ))}
      <span class="soft aside">
        {plural(jobs.length, 'job')}, stored <When at={createdAt} withClock />
      </span>
    </div>
  );
}
