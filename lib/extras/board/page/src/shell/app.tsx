import { useEffect, useLayoutEffect } from 'preact/hooks';
import { broken } from '../live/live.js';
import { route } from '../live/route.js';
import { Dialog } from '../parts/dialog.js';
import { Icon } from '../parts/icons.js';
import { Toasts } from '../parts/toasts.js';
import { LiveState, Lost } from './live-state.js';
import { SideBar, Tabs } from './navigation.js';
import { pageOf } from './pages.js';
import { Palette } from './palette.js';
import { useShortcuts } from './shortcuts.js';
import { ThemeButton } from './theme-button.js';

/** The frame around every page. */
export function App() {
  const { page, params } = route.value;
  const { title, Content } = pageOf(route.value);
  const name = title(params);
  const count = new Set(broken.value.map(({ queue }) => queue)).size;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${name} – Queues`;
  }, [name, count]);
  useNavigationFocus(`${page} ${params['queue'] ?? ''} ${params['id'] ?? ''}`);
  useShortcuts();
  return (
    <>
      <SkipLink />
      <SideBar />
      <div class="phone-bar">
        <span class="mark">
          <Icon name="logo" size={18} />
        </span>
        <strong title={name}>{name}</strong>
        <LiveState />
        <ThemeButton />
      </div>
      <main id="main" tabIndex={-1} data-view={location.hash}>
        <Lost />
        <Content key={page} params={params} />
      </main>
      <Tabs />
      <Palette />
      <Dialog />
      <Toasts />
    </>
  );
}

/** Screen readers read the title of a new page, and the next Tab starts there. */
function useNavigationFocus(view: string): void {
  // Before the page is drawn: a later call would take the focus from a person who has pressed Tab meanwhile.
  useLayoutEffect(() => {
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('h1')?.focus();
  }, [view]);
}

/** The hash names the page, so the link must not change it. */
function SkipLink() {
  const skip = (event: Event) => {
    event.preventDefault();
    document.getElementById('main')?.focus();
  };
  return (
    <a class="skip" href="#main" onClick={skip}>
      Skip to the content
    </a>
  );
}
