import { useEffect } from 'preact/hooks';
import { go } from '../live/route.js';
import { isElsewhere } from '../parts/rows.js';
import { showHelp } from './help.js';
import { ENTRIES } from './pages.js';
import { openPalette } from './palette.js';

// The letter follows `g` within this time.
const SEQUENCE_MS = 1_500;

/** The keys that every page has. */
export function useShortcuts(): void {
  useEffect(() => {
    let goUntil = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (isElsewhere(event)) return;
      const isGoing = event.timeStamp < goUntil;
      goUntil = event.key === 'g' ? event.timeStamp + SEQUENCE_MS : 0;
      const page = isGoing ? ENTRIES.find(([, { key }]) => key === event.key)?.[0] : undefined;
      if (page !== undefined) go(page);
      else if (event.key === '?') showHelp();
      else if (event.key === '/') {
        event.preventDefault();
        const field = document.querySelector<HTMLInputElement>('main input[data-search]');
        if (field) field.focus();
        else openPalette();
      }
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}
