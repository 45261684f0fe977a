import { useEffect, useRef, useState } from 'preact/hooks';

interface Rows {
  readonly count: number;
  onOpen(index: number): void;
  onSelect?(index: number): void;
}

/** The keys j and k move between the rows of a table, Enter opens one, x selects it. Returns the row; -1: none. */
export function useRows(rows: Rows): number {
  const [row, setRow] = useState(-1);
  // Keys may come faster than the page is drawn.
  const latest = useRef({ row, rows });
  latest.current.rows = rows;
  useEffect(() => {
    const move = (by: number) => {
      const { row: at, rows: current } = latest.current;
      if (current.count === 0) return;
      setRow((latest.current.row = Math.max(0, Math.min(current.count - 1, at + by))));
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (isElsewhere(event)) return;
      const { row: at, rows: current } = latest.current;
      if (event.key === 'j') move(1);
      else if (event.key === 'k') move(-1);
      else if (at < 0 || at >= current.count) return;
      else if (event.key === 'Enter' && !document.activeElement?.matches('a, button, summary')) current.onOpen(at);
      else if (event.key === 'x') current.onSelect?.(at);
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  useEffect(() => document.querySelector('tr.at')?.scrollIntoView({ block: 'nearest' }), [row]);
  return row;
}

/** The key is for a field, a dialog or the browser. */
export function isElsewhere({ target, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean {
  if (metaKey || ctrlKey || altKey || document.querySelector('dialog[open]')) return true;
  return target instanceof HTMLElement && target.matches('textarea, select, input:not([type=checkbox])');
}
