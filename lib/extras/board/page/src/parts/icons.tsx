import type { ComponentChildren } from 'preact';

// Drawn by hand on a grid of 16, with a stroke of 1.5. Each state has a shape of its own, so that colour is not needed.
// Functions, because Preact links an element that is drawn again to its first parents, and these to all later updates.
const PATHS = {
  completed: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="m5.4 8.2 1.8 1.8 3.5-3.9" />
    </>
  ),
  dead: () => (
    <>
      <path d="M5.5 1.75h5l3.75 3.75v5L10.5 14.25h-5L1.75 10.5v-5z" />
      <path d="m6 6 4 4m0-4-4 4" />
    </>
  ),
  active: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M6.6 5.4v5.2L10.8 8z" fill="currentColor" stroke-linejoin="round" />
    </>
  ),
  prefetched: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M8 4.8v5m-2.2-2.2L8 9.8l2.2-2.2" />
    </>
  ),
  waiting: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M5.2 8h.01M8 8h.01M10.8 8h.01" stroke-width="2" />
    </>
  ),
  scheduled: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M8 4.5V8l2.3 1.6" />
    </>
  ),
  blocked: () => (
    <>
      <circle cx="8" cy="8" r="6.25" stroke-dasharray="2.4 2.5" />
      <path d="M5.5 8h5" />
    </>
  ),
  staged: () => (
    <>
      <circle cx="8" cy="5.4" r="2.4" />
      <path d="M3.2 13.6c.4-2.6 2.3-4 4.8-4s4.4 1.4 4.8 4" />
    </>
  ),
  cancelled: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="m3.7 12.3 8.6-8.6" />
    </>
  ),
  removed: () => <path d="M3 4.5h10M6.2 4.3V2.8h3.6v1.5m-5.4.2.6 8.7h6l.6-8.7" />,
  paused: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M6.4 5.6v4.8m3.2-4.8v4.8" />
    </>
  ),
  broken: () => (
    <>
      <path d="M5.5 1.75h5l3.75 3.75v5L10.5 14.25h-5L1.75 10.5v-5z" />
      <path d="M8 4.8v3.9M8 11h.01" stroke-width="1.8" />
    </>
  ),
  attention: () => (
    <>
      <path d="M8 2.1 14.4 13.4H1.6z" stroke-linejoin="round" />
      <path d="M8 6.3v3.2m0 1.9h.01" stroke-width="1.7" />
    </>
  ),
  ok: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="m5.2 8.3 1.9 1.9 3.7-4.2" />
    </>
  ),
  idle: () => (
    <>
      <circle cx="8" cy="8" r="6.25" />
      <path d="M5.5 8h5" />
    </>
  ),
  overview: () => (
    <>
      <path d="M2 13.2h12M3.6 10.6V7.2m3.4 3.4V3.4m3.4 7.2V5.6m2.9 5V8.4" />
    </>
  ),
  queues: () => (
    <>
      <rect x="2" y="2.5" width="12" height="3" rx="1" />
      <rect x="2" y="6.9" width="12" height="3" rx="1" />
      <path d="M3 12.9h10" />
    </>
  ),
  jobs: () => (
    <>
      <rect x="2.2" y="2.2" width="11.6" height="11.6" rx="2" />
      <path d="M5 5.8h6M5 8.2h6M5 10.6h3.4" />
    </>
  ),
  flow: () => (
    <>
      <circle cx="3.6" cy="8" r="1.9" />
      <circle cx="12.4" cy="3.9" r="1.9" />
      <circle cx="12.4" cy="12.1" r="1.9" />
      <path d="M5.5 8h1.8c1.8 0 1.2-4.1 3.2-4.1M7.3 8c1.8 0 1.2 4.1 3.2 4.1" />
    </>
  ),
  schedules: () => (
    <>
      <rect x="2" y="3" width="12" height="11" rx="2" />
      <path d="M2 6.4h12M5.2 1.8v2.4m5.6-2.4v2.4" />
    </>
  ),
  workers: () => (
    <>
      <rect x="2" y="2.4" width="12" height="4.6" rx="1.2" />
      <rect x="2" y="9" width="12" height="4.6" rx="1.2" />
      <path d="M4.6 4.7h.01M4.6 11.3h.01" stroke-width="1.9" />
    </>
  ),
  people: () => (
    <>
      <circle cx="6" cy="5.4" r="2.3" />
      <path d="M1.8 13.4c.4-2.6 2-3.9 4.2-3.9s3.8 1.3 4.2 3.9M10.6 3.3a2.2 2.2 0 0 1 0 4.2m1.3 2.3c1.3.5 2.1 1.7 2.3 3.6" />
    </>
  ),
  topics: () => (
    <>
      <path d="M8 8h.01" stroke-width="2.4" />
      <path d="M5.2 10.8a4 4 0 0 1 0-5.6m5.6 0a4 4 0 0 1 0 5.6M3.1 12.9a7 7 0 0 1 0-9.8m9.8 0a7 7 0 0 1 0 9.8" />
    </>
  ),
  audit: () => (
    <>
      <path d="M4 1.9h6l2.6 2.6v9.6H4z" stroke-linejoin="round" />
      <path d="M6.2 7h4M6.2 9.4h4M6.2 11.7h2" />
    </>
  ),
  search: () => (
    <>
      <circle cx="7" cy="7" r="4.7" />
      <path d="m10.5 10.5 3.5 3.5" />
    </>
  ),
  retry: () => (
    <>
      <path d="M13.2 8A5.2 5.2 0 1 1 11.5 4.2L13.2 5.8" />
      <path d="M13.3 2.3v3.6H9.7" />
    </>
  ),
  more: () => <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" stroke-width="2.3" />,
  chevron: () => <path d="m6 3.5 4.5 4.5L6 12.5" />,
  down: () => <path d="m3.5 6 4.5 4.5L12.5 6" />,
  copy: () => (
    <>
      <rect x="5.3" y="5.3" width="8.2" height="8.2" rx="1.6" />
      <path d="M10.7 3.2a1.3 1.3 0 0 0-1.1-.700H3.8a1.3 1.3 0 0 0-1.3 1.3v5.8c0 .500.3.900.7 1.1" />
    </>
  ),
  close: () => <path d="m4 4 8 8m0-8-8 8" />,
  lock: () => (
    <>
      <rect x="3.3" y="7" width="9.4" height="6.6" rx="1.4" />
      <path d="M5.3 7V5a2.7 2.7 0 0 1 5.4 0v2" />
    </>
  ),
  sun: () => (
    <>
      <circle cx="8" cy="8" r="2.9" />
      <path d="M8 1.5v1.4m0 10.2v1.4M1.5 8h1.4m10.2 0h1.4M3.4 3.4l1 1m7.2 7.2 1 1m0-9.2-1 1m-7.2 7.2-1 1" />
    </>
  ),
  moon: () => <path d="M13.4 9.7A5.8 5.8 0 0 1 6.3 2.6a5.8 5.8 0 1 0 7.1 7.1z" stroke-linejoin="round" />,
  auto: () => (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 2.2a5.8 5.8 0 0 1 0 11.6z" fill="currentColor" />
    </>
  ),
  up: () => <path d="m3.5 10.5 4.5-5 4.5 5" />,
  worse: () => <path d="M3.5 12.5 12 4m0 0H6.8M12 4v5.2" />,
  better: () => <path d="M3.5 3.5 12 12m0 0H6.8M12 12V6.8" />,
  steady: () => <path d="M2.5 8h10.5m0 0L9.6 4.6M13 8l-3.4 3.4" />,
  plus: () => <path d="M8 3v10M3 8h10" />,
  minus: () => <path d="M3 8h10" />,
  fit: () => <path d="M2.5 6V2.5H6m4 0h3.5V6m0 4v3.5H10m-4 0H2.5V10" />,
  edit: () => <path d="m2.8 13.2.700-3L10.7 3a1.6 1.6 0 0 1 2.3 2.3L5.8 12.5z" stroke-linejoin="round" />,
  gauge: () => (
    <>
      <path d="M2.2 12a6.2 6.2 0 1 1 11.6 0" />
      <path d="m8 10.5 2.7-4" />
    </>
  ),
  play: () => <path d="M5 3.2v9.6L12.6 8z" stroke-linejoin="round" />,
  signal: () => (
    <>
      <path d="M8 8h.01" stroke-width="2.4" />
      <path d="M5.2 10.8a4 4 0 0 1 0-5.6m5.6 0a4 4 0 0 1 0 5.6" />
    </>
  ),
  logo: () => (
    <>
      <rect x="1.5" y="2.5" width="13" height="3.2" rx="1.6" fill="currentColor" stroke="none" opacity=".35" />
      <rect x="1.5" y="6.7" width="9.5" height="3.2" rx="1.6" fill="currentColor" stroke="none" opacity=".65" />
      <rect x="1.5" y="10.9" width="6" height="3.2" rx="1.6" fill="currentColor" stroke="none" />
    </>
  ),
} satisfies Record<string, () => ComponentChildren>;

export type IconName = keyof typeof PATHS;

/** A shape; the word beside it has the meaning. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class={`icon i-${name}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      aria-hidden="true"
    >
      {PATHS[name]()}
    </svg>
  );
}
