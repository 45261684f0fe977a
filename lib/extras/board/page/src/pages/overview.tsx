import type { Point } from '../answers.js';
import { AttemptCharts, LatencyCard, RANGES, stepOf, type Step } from '../charts/history.js';
import { isLoaded, isPartial, problems, queues, sharedReading } from '../live/live.js';
import { may } from '../live/rights.js';
import { go } from '../live/route.js';
import { useAnswer } from '../live/use-read.js';
import { Card, Empty, Failure, Loaded, Segments } from '../parts/layout.js';
import { keyOf } from '../parts/problem-text.js';
import type { PageProps } from '../shell/pages.js';
import { DatabaseChecks } from './overview/database-checks.js';
import { ProblemCard, ProblemLinks } from './overview/problem-card.js';
import { QueueTable } from './overview/queue-table.js';
import { Numbers } from './overview/numbers.js';
import { Verdict } from './overview/verdict.js';

const MAX_CARDS = 3;
const HISTORY_MS = 30_000;

/** What is broken, since when, and what helps; then the numbers, and all queues. */
export function OverviewPage({ params }: PageProps) {
  const step = stepOf(params['step']);
  const history = useAnswer<{ points: Point[] }>('history', { step }, HISTORY_MS);
  const points = history.data?.points;
  const onRange = (one: Step) => go('overview', { ...params, step: one === 'minute' ? '' : one });
  const isEmpty = isLoaded.value && queues.value.length === 0;
  return (
    <>
      <Verdict aside={<Segments label="Range" value={step} options={RANGES} onChange={onRange} />} />
      {isEmpty ? (
        <NoQueue />
      ) : (
        <>
          <ProblemCards />
          <Numbers points={points} step={step} />
          <SharedFailures />
          <div class="charts two">
            <Card isFlush class="chart-card">
              <Loaded of={history} rows={11}>
                {({ points: known }) => <AttemptCharts points={known} step={step} problems={problems.value ?? []} />}
              </Loaded>
            </Card>
            {(points || !history.error) && (
              <LatencyCard {...{ points, step }} title="Wait to start" field="waitMs" height={248} skeleton={11} />
            )}
          </div>
          <QueueTable params={params} />
        </>
      )}
      {may('read') && <DatabaseChecks />}
    </>
  );
}

function ProblemCards() {
  const all = problems.value ?? [];
  return (
    <>
      {all.length > 0 && (
        <div class="problems">
          {all.slice(0, MAX_CARDS).map((problem) => (
            <ProblemCard key={keyOf(problem)} problem={problem} />
          ))}
        </div>
      )}
      <ProblemLinks problems={all.slice(MAX_CARDS)} />
    </>
  );
}

/** The reads of which the numbers and the rows of the queues are made. The verdict has the problems. */
function SharedFailures() {
  const parts = [
    ['Throughput', sharedReading('throughput')],
    ['Workers', sharedReading('workers')],
  ] as const;
  return (
    <>
      {parts.map(
        ([name, { error, reload }]) =>
          error && (
            <Card key={name} isFlush title={name}>
              <Failure {...{ error, reload }} />
            </Card>
          ),
      )}
    </>
  );
}

function NoQueue() {
  if (isPartial.value)
    return (
      <Card>
        <Empty icon="lock" title="You have no right to read any of the queues" />
      </Card>
    );
  return (
    <Card>
      <Empty icon="queues" title="No queue has had a job yet">
        <p>Enqueue a job: its queue appears here within seconds.</p>
        <pre class="example">{`constructor(private readonly producer: QueueProducer) {}

await this.producer.enqueue('email.welcome', { to: 'ann@example.com' });`}</pre>
      </Empty>
    </Card>
  );
}
