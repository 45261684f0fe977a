import { useState } from 'preact/hooks';
import { Icon } from './icons.js';

const SHOWN_MS = 1_500;

/** Copies the text. A page without HTTPS has no clipboard, and no button. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isDone, setDone] = useState(false);
  if (!('clipboard' in navigator)) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), SHOWN_MS);
  };
  return (
    <button type="button" class="icon-button" title={label} aria-label={label} onClick={() => void copy()}>
      <Icon name={isDone ? 'ok' : 'copy'} size={14} />
    </button>
  );
}
