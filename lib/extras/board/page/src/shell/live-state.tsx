import { clock, duration } from '../format.js';
import { now } from '../live/clock.js';
import { connection, connectionFailure, isPaused, isStale, setPaused, updatedAt } from '../live/live.js';
import { Icon } from '../parts/icons.js';

const TEXTS = {
  connecting: 'Connecting',
  lost: 'Connection lost',
  outage: 'Database away',
  refused: 'No right',
  failed: 'Updates fail',
};

/** Where the numbers come from, how old they are, and the switch that holds them. */
export function LiveState() {
  const state = connection.value;
  const shown = isPaused.value && !isStale.value ? 'paused' : state;
  const text = isPaused.value ? 'Continue the updates' : 'Pause the updates';
  return (
    <div class={`live l-${shown}`} data-state={shown}>
      <i />
      <span class="live-text">{textOf(shown)}</span>
      <button
        type="button"
        class="icon-button"
        aria-label={text}
        title={text}
        aria-pressed={isPaused.value}
        onClick={() => setPaused(!isPaused.value)}
      >
        <Icon name={isPaused.value ? 'play' : 'paused'} size={14} />
      </button>
    </div>
  );
}

function textOf(state: string): string {
  if (Object.hasOwn(TEXTS, state)) return TEXTS[state as 'lost'];
  const ageMs = Math.max(0, now.value - updatedAt.value);
  const age = ageMs < 1_500 ? 'now' : `${duration(ageMs)} ago`;
  if (state === 'paused') return `Paused · ${age}`;
  return state === 'polling' ? `Every 5 seconds · ${age}` : `Live · ${age}`;
}

const LOST = {
  lost: 'Connection lost.',
  outage: 'The database is away.',
  refused: 'You have no right to see the queues.',
};

/** Old numbers must not look like present ones. */
export function Lost() {
  if (!isStale.value) return null;
  const state = connection.value;
  const what = state === 'failed' ? connectionFailure.value : LOST[state as 'lost'];
  const since = updatedAt.value > 0 ? `This page shows the state of ${clock(updatedAt.value, true)}.` : '';
  return (
    <p class="lost" role="alert">
      <Icon name="broken" />
      <span>
        {what} {since} Trying again.
      </span>
    </p>
  );
}
