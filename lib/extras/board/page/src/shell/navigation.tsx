import { errors, problemByQueue } from '../live/live.js';
import { rightsFor } from '../live/rights.js';
import { href, route } from '../live/route.js';
import { Icon } from '../parts/icons.js';
import { LiveState } from './live-state.js';
import { ENTRIES, entryOf, MAIN } from './pages.js';
import { openPalette } from './palette.js';
import { ThemeButton } from './theme-button.js';

const MAX_PROBLEMS = 6;
const TABS = 4;

export function SideBar() {
  return (
    <header class="side">
      <a class="brand" href={href('overview')}>
        <span class="mark">
          <Icon name="logo" size={20} />
        </span>
        <span>Queues</span>
      </a>
      <button type="button" class="find" onClick={openPalette}>
        <Icon name="search" size={14} />
        Find
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <nav aria-label="Pages">
        <div class="links">
          {ENTRIES.slice(0, MAIN).map(([page]) => (
            <Entry key={page} page={page} />
          ))}
        </div>
        <div class="links later">
          {ENTRIES.slice(MAIN).map(([page]) => (
            <Entry key={page} page={page} />
          ))}
        </div>
      </nav>
      <QueuesWithProblems />
      <footer class="side-foot">
        <LiveState />
        <div class="me">
          <Viewer />
          <ThemeButton />
        </div>
      </footer>
    </header>
  );
}

/** The pages at the bottom of a phone. */
export function Tabs() {
  return (
    <nav class="tabs" aria-label="Main pages">
      {ENTRIES.slice(0, TABS).map(([page]) => (
        <Entry key={page} page={page} size={20} />
      ))}
      <button type="button" onClick={openPalette}>
        <Icon name="search" size={20} />
        Find
      </button>
    </nav>
  );
}

function Entry({ page, size = 16 }: { page: string; size?: number }) {
  const [, { icon, name }] = ENTRIES.find(([one]) => one === page)!;
  const count = page === 'errors' ? (errors.value?.length ?? 0) : 0;
  return (
    <a href={href(page)} aria-current={page === entryOf(route.value) ? 'page' : undefined}>
      <Icon name={icon} size={size} />
      {name}
      {count > 0 && (
        <span class="count">
          {count}
          <span class="hidden"> kinds</span>
        </span>
      )}
    </a>
  );
}

function QueuesWithProblems() {
  const first = [...problemByQueue.value.values()].slice(0, MAX_PROBLEMS);
  if (first.length === 0) return null;
  return (
    <nav class="side-queues" aria-label="Queues with problems">
      <h2>Queues with problems</h2>
      {first.map(({ queue, severity }) => (
        <a key={queue} href={href('queue', { queue })} class={`s-${severity}`}>
          <Icon name={severity} size={13} />
          <span>{queue}</span>
        </a>
      ))}
    </nav>
  );
}

function Viewer() {
  const { user, isReadOnly } = rightsFor();
  return <span class="who">{[isReadOnly ? 'Read-only' : '', user ?? ''].filter(Boolean).join(' · ')}</span>;
}
