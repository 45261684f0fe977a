import type { Job, Reason } from '../../answers.js';
import { useAnswer } from '../../live/use-read.js';
import { Icon, type IconName } from '../../parts/icons.js';
import { Card, Loaded } from '../../parts/layout.js';
import { JobLink } from '../../parts/links.js';
import { SignalButton } from './signal-button.js';

const EVERY_MS = 5_000;

const ICONS: Readonly<Partial<Record<Reason['reason'], IconName>>> = {
  'no-worker': 'broken',
  'lease-expired': 'broken',
  malformed: 'broken',
  expired: 'broken',
  'queue-paused': 'paused',
  'group-paused': 'paused',
  'queue-disabled': 'paused',
  'paused-here': 'paused',
  'disabled-here': 'paused',
  'waits-for-signal': 'signal',
  sleeps: 'scheduled',
  scheduled: 'scheduled',
  due: 'scheduled',
  blocked: 'blocked',
  staged: 'staged',
  'for-people': 'people',
  running: 'active',
  assigned: 'people',
  next: 'ok',
};

/** Why the job does not run, or where it runs. The first reason needs an action most. */
export function Reasons({ job }: { job: Job }) {
  const explanation = useAnswer<{ reasons: Reason[] }>('explain', { id: job.id }, EVERY_MS);
  return (
    <Card title={job.state === 'active' ? 'What does it do?' : 'Why is it not running?'} class="reasons">
      <Loaded of={explanation} rows={2}>
        {({ reasons }) => (
          <ol>
            {reasons.map((one) => (
              <li key={one.reason}>
                <Icon name={ICONS[one.reason] ?? 'waiting'} />
                <div>
                  <p>{one.text}</p>
                  <Targets reason={one} />
                </div>
                {one.reason === 'waits-for-signal' && <SignalButton job={job} name={one.name} signalKey={one.key} />}
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </Card>
  );
}

/** Links to the jobs that a reason names. */
function Targets({ reason }: { reason: Reason }) {
  const ids = reason.reason === 'blocked' ? reason.needs.map(({ id }) => id) : 'jobIds' in reason ? reason.jobIds : [];
  if (ids.length === 0) return null;
  return (
    <p class="job-links">
      {ids.map((id) => (
        <JobLink key={id} id={id} />
      ))}
    </p>
  );
}
