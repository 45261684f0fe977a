import { read } from '../../api.js';
import type { Job, Steps as StepsAnswer } from '../../answers.js';
import { useRead } from '../../live/use-read.js';
import { Card, Loaded } from '../../parts/layout.js';
import { JsonValue } from '../../parts/json-tree.js';
import { State } from '../../parts/state.js';
import { When } from '../../parts/when.js';
import { SignalButton } from './signal-button.js';

type Step = StepsAnswer['steps'][number];

const ICONS = { done: 'completed', sleeping: 'scheduled', waiting: 'signal', 'timed-out': 'attention' } as const;

/** The steps that the runs have begun, with their values. Nothing for a job without steps. */
export function Steps({ job }: { job: Job }) {
  const reading = useRead(`${job.id}`, () => read<StepsAnswer>('steps', { id: job.id }));
  const { data, error } = reading;
  if (!error && (!data || data.steps.length === 0)) return null;
  const isCut = data && data.next !== null;
  return (
    <Card isFlush title="Steps" aside={<span class="soft">by name{isCut && ', the first 100'}</span>}>
      <Loaded of={reading}>
        {({ steps, isHidden }) => (
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
                <StepValue step={step} isHidden={isHidden} />
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </Card>
  );
}

function StepValue({ step, isHidden }: { step: Step; isHidden: boolean }) {
  if (step.value === null)
    return isHidden && step.state === 'done' ? <p class="soft">You have no right to read its value.</p> : null;
  return <JsonValue shown={step.value} name={`value of ${step.name}`} />;
}
