import type { Problem } from '../../answers.js';
import { queues } from '../../live/live.js';
import { rightsFor } from '../../live/rights.js';
import { href } from '../../live/route.js';
import { ActionButton } from '../../parts/action.js';
import { BulkButton } from '../../parts/bulk.js';
import { queueToggle } from '../../parts/toggle.js';

/** A verb of the queue, or a link. */
type Help = 'pause' | 'resume' | 'replay' | readonly [text: string, to: (queue: string) => string];

const HELP: Readonly<Partial<Record<Problem['rule'], readonly Help[]>>> = {
  failing: [['See the errors', (queue) => href('errors', { queue })], 'pause', 'replay'],
  'dead-jobs': [['See the errors', (queue) => href('errors', { queue })], 'replay'],
  paused: ['resume', ['Who paused it?', (queue) => href('audit', { queue })]],
  'no-worker': [
    ['See the workers', (queue) => href('workers', { queue })],
    ['See its jobs', (queue) => href('jobs', { queue, state: 'waiting' })],
  ],
  'lapsed-claims': [
    ['See the workers', () => href('workers')],
    ['See its jobs', (queue) => href('jobs', { queue, state: 'active' })],
  ],
  'schedule-late': [
    ['See the schedules', () => href('schedules')],
    ['Workers', () => href('workers')],
  ],
  'groups-blocked': [['See the groups', (queue) => href('queue', { queue })]],
};

const OTHERS: readonly Help[] = [
  ['See the queue', (queue) => href('queue', { queue })],
  ['Workers', () => href('workers')],
];

/** What helps against a problem: one primary button, and up to two further ones. */
export function ProblemButtons({ problem: { rule, queue } }: { problem: Problem }) {
  if (queue === null) return <Link to={href('workers')} text="See the workers" isPrimary />;
  return (
    <>
      {(HELP[rule] ?? OTHERS).map((help, index) => (
        <HelpButton key={index} {...{ help, queue }} isPrimary={index === 0} />
      ))}
    </>
  );
}

function HelpButton({ help, queue, isPrimary }: { help: Help; queue: string; isPrimary: boolean }) {
  if (help === 'replay') return <Replay queue={queue} />;
  if (typeof help === 'string') return <Toggle queue={queue} wants={help} isPrimary={isPrimary} />;
  const [text, to] = help;
  return <Link to={to(queue)} text={text} isPrimary={isPrimary} />;
}

function Link({ to, text, isPrimary }: { to: string; text: string; isPrimary: boolean }) {
  return (
    <a class={`button ${isPrimary ? 'primary' : ''}`} href={to}>
      {text}
    </a>
  );
}

/** Nothing if the queue is already in the state. */
function Toggle({ queue, wants, isPrimary }: { queue: string; wants: 'pause' | 'resume'; isPrimary: boolean }) {
  const one = queues.value.find((each) => each.queue === queue);
  if (!one || one.paused !== (wants === 'resume')) return null;
  const icon = wants === 'pause' ? 'paused' : 'play';
  return <ActionButton verbs={one.verbs} action={queueToggle(one)} icon={icon} isPrimary={isPrimary} />;
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
