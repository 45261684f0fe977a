import type { Job, Steps as StepsAnswer } from '../../answers.js';
import { plural } from '../../format.js';
import { usePages, type PagesReading } from '../../live/read-pages.js';
import { Card, Failure } from '../../parts/layout.js';
import { JsonValue } from '../../parts/json-tree.js';
import { State } from '../../parts/state.js';
import { When } from '../../parts/when.js';
import { SignalButton } from './signal-button.js';

export type Step = StepsAnswer['steps'][number];

type StepPages = PagesReading<StepsAnswer>;

const PAGE_SIZE = 100;

/** The first steps of the job, and further ones on demand. */
export const useSteps = ({ id }: Job) => usePages<StepsAnswer>('steps', { id, limit: PAGE_SIZE });

export const stepsOf = (of: StepPages['data']): Step[] => of?.pages.flatMap(({ steps }) => steps) ?? [];

const ICONS = { done: 'completed', sleeping: 'scheduled', waiting: 'signal', 'timed-out': 'attention' } as const;

/** The steps that the runs have begun, with their values: nothing for a job without steps. */
export function Steps({ job, of: { data, error, reload, showMore } }: { job: Job; of: StepPages }) {
  const steps = stepsOf(data);
  if (steps.length === 0 && !error) return null;
  return (
    <Card isFlush title="Steps" aside={<span class="soft">by name</span>}>
      {error && <Failure {...{ error, reload }} part="steps" />}
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.name}>
            <div class="step-head">
              <State state={ICONS[step.state] ?? 'idle'} text={<b class="mono">{step.name}</b>} />
              <span class="soft">
                {step.state}
                {step.until !== null && (
                  <>
                    {step.state === 'done' ? ', the limit was ' : ' until '}
                    <When at={step.until} withClock />
                  </>
                )}
                {step.signalKey !== null && (
                  <>
                    , key <span class="mono">{step.signalKey}</span>
                  </>
                )}
              </span>
              {step.state === 'waiting' && <SignalButton job={job} name={step.name} signalKey={step.signalKey} />}
            </div>
            <StepValue step={step} isHidden={data!.pages[0]!.isHidden} />
          </li>
        ))}
      </ol>
      {data && data.next !== null && (
        <footer class="pager">
          <span class="soft">The first {plural(steps.length, 'step')}</span>
          <button type="button" onClick={showMore}>
            Show more steps
          </button>
        </footer>
      )}
    </Card>
  );
}

function StepValue({ step, isHidden }: { step: Step; isHidden: boolean }) {
  if (step.value === null)
    return isHidden && step.state === 'done' ? <p class="soft">You have no right to read its value.</p> : null;
  return <JsonValue shown={step.value} name={`value of ${step.name}`} />;
}
