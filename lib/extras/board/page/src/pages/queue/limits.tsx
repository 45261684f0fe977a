import type { ComponentChildren } from 'preact';
import type { Queue, Verb } from '../../answers.js';
import { duration, number, rateText } from '../../format.js';
import { ActionButton } from '../../parts/action.js';
import { HoursStrip } from '../../parts/hours-strip.js';
import { Gauge } from '../../parts/gauge.js';
import { Card } from '../../parts/layout.js';
import { When } from '../../parts/when.js';
import { enabledText, settingsAction } from './settings.js';

/** The limits and settings of the queue, each with its origin. */
export function Limits({ record, verbs }: { record: Queue; verbs: readonly Verb[] }) {
  const { queue, settings, maxRunning, active, waiting, rate, rateLeft, restsUntil, expiresAfterMs, sampledAt } =
    record;
  const { concurrency, enabled } = settings;
  const origin = (name: keyof typeof settings) => (
    <span class="soft origin">({settings[name] === undefined ? 'options' : 'set at run time'})</span>
  );
  return (
    <Card
      title="Limits and settings"
      aside={<ActionButton verbs={verbs} action={{ ...settingsAction(queue), text: 'Change …' }} />}
    >
      <dl class="limits">
        <Entry name="Running in all processes">
          {maxRunning === null ? (
            'no limit'
          ) : (
            <Gauge
              value={active}
              max={maxRunning}
              isPressed={waiting.value > 0}
              label="Running in all processes"
              text={
                <>
                  <b>{number(active)}</b> of {number(maxRunning)}
                </>
              }
            />
          )}{' '}
          {origin('maxRunning')}
        </Entry>
        <Entry name="Rate">
          {rate !== null && (
            <Gauge
              value={capacityOf(rate) - rateLeft!}
              max={capacityOf(rate)}
              isPressed={waiting.value > 0}
              label="Rate in use"
              text={
                <>
                  <b>{number(rateLeft!)}</b> left
                </>
              }
            />
          )}
          {rateText(rate)} {origin('rate')}
        </Entry>
        <Entry name="Running in each process">
          {concurrency === undefined ? (
            'as in the options'
          ) : (
            <>
              {number(concurrency)} {origin('concurrency')}
            </>
          )}
        </Entry>
        <Entry name="Runs jobs">
          {typeof enabled === 'object' && <HoursStrip {...enabled} />}
          {enabledText(enabled)} {enabled !== undefined && origin('enabled')}
        </Entry>
        {restsUntil !== null && (
          <Entry name="Rests until">
            <When at={restsUntil} withClock />
          </Entry>
        )}
        {expiresAfterMs !== null && <Entry name="Expires unused after">{duration(expiresAfterMs)}</Entry>}
        <Entry name="Counted">
          <When at={sampledAt} withClock withSeconds />
        </Entry>
      </dl>
    </Card>
  );
}

/** How many jobs the rate lets start at once if none has started lately. */
const capacityOf = ({ window, limit, burst }: NonNullable<Queue['rate']>) => (window === 'fixed' ? limit : burst);

function Entry({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
