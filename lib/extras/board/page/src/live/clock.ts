import { signal } from '@preact/signals';

/** The time, which ticks once a second for relative times. */
export const now = signal(Date.now());

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1_000);
}
