import { useState } from 'preact/hooks';
import { number } from '../format.js';

// More rows make each update slow. The search of the browser finds the others after a press on the button.
const MAX_ROWS = 100;

/** The first rows of a long list, and the button that shows all of them. */
export function useFirstRows<Row>(all: readonly Row[], noun: string, most = MAX_ROWS) {
  const [isWhole, setWhole] = useState(false);
  const rows = isWhole ? all : all.slice(0, most);
  const footer = rows.length < all.length && (
    <footer class="pager">
      <span class="soft">
        The first {number(rows.length)} of {number(all.length)} {noun}
      </span>
      <button type="button" onClick={() => setWhole(true)}>
        Show all
      </button>
    </footer>
  );
  return { rows, footer };
}
