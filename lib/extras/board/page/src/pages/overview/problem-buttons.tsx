import type { Problem } from '../../answers.js';
import { queues } from '../../live/live.js';
import { rightsFor } from '../../live/rights.js';
import { href, type Params } from '../../live/route.js';
import { ActionButton } from '../../parts/action.js';
import { BulkButton } from '../../parts/bulk.js';
import { queueToggle } from '../../parts/toggle.js';

/** What helps against a problem: one primary button, and up to two further ones. */
export function ProblemButtons({ problem: { rule, queue } }: { problem: Problem }) {
  if (queue === null) return <Link to="workers" text="See the workers" isPrimary />;
  switch (rule) {
    case 'failing':
      return (
        <>
          <Link to="errors" params={{ queue }} text="See the errors" isPrimary />
          <Toggle queue={queue} wants="pause" />
          <Replay queue={queue} />
        </>
      );
    case 'dead-jobs':
      return (
        <>
          <Link to="errors" params={{ queue }} text="See the errors" isPrimary />
          <Replay queue={queue} />
        </>
      );
    case 'paused':
      return (
        <>
          <Toggle queue={queue} wants="resume" isPrimary />
          <Link to="audit" params={{ queue }} text="Who paused it?" />
        </>
      );
    case 'no-worker':
      return (
        <>
          <Link to="workers" params={{ queue }} text="See the workers" isPrimary />
          <Link to="jobs" params={{ queue, state: 'waiting' }} text="See its jobs" />
        </>
      );
    case 'lapsed-claims':
      return (
        <>
          <Link to="workers" text="See the workers" isPrimary />
          <Link to="jobs" params={{ queue, state: 'active' }} text="See its jobs" />
        </>
      );
    case 'schedule-late':
      return (
        <>
          <Link to="schedules" text="See the schedules" isPrimary />
          <Link to="workers" text="Workers" />
        </>
      );
    case 'groups-blocked':
      return <Link to="queue" params={{ queue }} text="See the groups" isPrimary />;
    default:
      return (
        <>
          <Link to="queue" params={{ queue }} text="See the queue" isPrimary />
          <Link to="workers" text="Workers" />
        </>
      );
  }
}

function Link({
  to,
  params,
  text,
  isPrimary = false,
}: {
  to: string;
  params?: Params;
  text: string;
  isPrimary?: boolean;
}) {
  return (
    <a class={`button ${isPrimary ? 'primary' : ''}`} href={href(to, params)}>
      {text}
    </a>
  );
}

/** Nothing if the queue is already in the state. */
function Toggle({ queue, wants, isPrimary }: { queue: string; wants: 'pause' | 'resume'; isPrimary?: boolean }) {
  const one = queues.value.find((each) => each.queue === queue);
  if (!one || one.paused !== (wants === 'resume')) return null;
  const icon = wants === 'pause' ? 'paused' : 'play';
  return <ActionButton verbs={one.verbs} action={queueToggle(one)} icon={icon} isPrimary={isPrimary ?? false} />;
}

function Replay({ queue }: { queue: string }) {
  const dead = queues.value.find((one) => one.queue === queue)?.dead.value ?? 0;
  if (dead === 0) return null;
  return (
    <BulkButton
      verbs={rightsFor(queue).verbs}
      verb="retry"
      text="Replay"
      label={`Replay the dead jobs of ${queue}`}
      selection={() => ({ filter: { queue, state: 'dead' } })}
    />
  );
}
