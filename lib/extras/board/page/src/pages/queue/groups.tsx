import type { Group, Verb } from '../../answers.js';
import { number, rateText } from '../../format.js';
import { href } from '../../live/route.js';
import { ActionButton, type Action } from '../../parts/action.js';
import { Gauge } from '../../parts/gauge.js';
import { limitChange, RATE_FIELD } from '../../parts/limit-fields.js';
import type { IconName } from '../../parts/icons.js';
import { State } from '../../parts/state.js';
import { actionsColumn, Table, type Column } from '../../parts/table.js';
import { toggleAction } from '../../parts/toggle.js';
import { When } from '../../parts/when.js';

// The server counts no further.
const MAX_COUNTED = 1_000;

const ICONS: Readonly<Record<Group['state'], IconName>> = {
  ready: 'active',
  blocked: 'blocked',
  paused: 'paused',
  idle: 'idle',
};

interface Props {
  readonly queue: string;
  readonly groups: readonly Group[];
  readonly next: string | null;
  readonly verbs: readonly Verb[];
}

export function Groups({ queue, groups, next, verbs }: Props) {
  const columns: Column<Group>[] = [
    { title: 'Group', isUnlabelled: true, cell: (one) => <GroupName group={one} /> },
    { title: 'Waiting', isNumber: true, cell: (one) => <Waiting group={one} /> },
    { title: 'Active', isNumber: true, cell: (one) => <Active group={one} /> },
    { title: 'Later', isNumber: true, cell: ({ counts }) => number(counts?.scheduled ?? 0) },
    actionsColumn((one) => (
      <>
        <ActionButton
          verbs={verbs}
          icon={one.state === 'paused' ? 'play' : 'paused'}
          isIcon
          action={toggleAction(one.state === 'paused', {
            ...{ name: `group ${one.group}`, suffix: '-group', body: { queue, group: one.group } },
            done: (past) => `Group ${one.group} is ${past}.`,
          })}
        />
        <ActionButton verbs={verbs} icon="gauge" isIcon action={limitGroupAction(queue, one.group)} />
      </>
    )),
  ];
  return (
    <>
      <Table class="slim" caption="Groups" rows={groups} keyOf={({ group }) => group} columns={columns} />
      {next && (
        <footer class="pager">
          <span />
          <a class="button" href={href('queue', { queue, group: next })}>
            More groups
          </a>
        </footer>
      )}
    </>
  );
}

function GroupName({ group: { group, state, weight, rate, restsUntil } }: { group: Group }) {
  return (
    <>
      <State state={ICONS[state] ?? 'idle'} text={<b>{group}</b>} />
      <span class="soft block">
        {state}
        {weight !== 1 && `, ${number(weight)} turns`}
        {rate !== undefined && `, ${rateText(rate)}`}
        {restsUntil !== null && (
          <>
            , rests until <When at={restsUntil} />
          </>
        )}
      </span>
    </>
  );
}

function Waiting({ group: { queue, group, counts } }: { group: Group }) {
  if (!counts || counts.waiting === 0) return <>0</>;
  const text = upTo(counts.waiting, counts.active);
  return (
    <a href={href('jobs', { queue, group, state: 'waiting' })} aria-label={`${text} waiting jobs of group ${group}`}>
      {text}
    </a>
  );
}

/** The slots of a group with a limit of its own. That of the options is known to the workers only. */
function Active({ group: { queue, group, counts, concurrency } }: { group: Group }) {
  const active = counts?.active ?? 0;
  const link =
    active === 0 ? (
      <>0</>
    ) : (
      <a href={href('jobs', { queue, group, state: 'active' })} aria-label={`Running jobs of group ${group}`}>
        {number(active)}
      </a>
    );
  if (concurrency === undefined) return link;
  const isPressed = (counts?.waiting ?? 0) > 0;
  return (
    <Gauge value={active} max={concurrency} isPressed={isPressed} label={`Running jobs of ${group}`}>
      {link}
    </Gauge>
  );
}

function upTo(waiting: number, active: number): string {
  return waiting + active < MAX_COUNTED ? number(waiting) : `${number(waiting)}+`;
}

function limitGroupAction(queue: string, group: string): Action {
  return {
    verb: 'limit-group',
    text: 'Limit …',
    label: `Limit group ${group}`,
    confirm: `Limit group ${group}`,
    fields: [
      { name: 'concurrency', label: 'Running at once', hint: 'A number, or "none". Empty: as it is.' },
      RATE_FIELD,
      { name: 'weight', label: 'Weight', type: 'number', hint: '1 to 1,000' },
    ],
    body: (values) => ({ queue, group, change: limitChange(values, 'concurrency') }),
    done: () => `The limits of group ${group} are changed.`,
  };
}
