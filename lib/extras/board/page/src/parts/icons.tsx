import type { SVGAttributes } from 'preact';

interface Path extends SVGAttributes<SVGPathElement> {
  readonly d: string;
}

type Part = string | Path;

const circle = (x: number, y: number, r: number) =>
  `M${x + r} ${y}a${r} ${r} 0 1 1 ${-2 * r} 0a${r} ${r} 0 1 1 ${2 * r} 0z`;

/** A rectangle with round corners. */
function box(x: number, y: number, width: number, height: number, r: number): string {
  const [across, down, corner] = [width - 2 * r, height - 2 * r, `a${r} ${r} 0 0 1`];
  const topAndRight = `M${x + r} ${y}h${across}${corner} ${r} ${r}v${down}${corner} ${-r} ${r}`;
  return `${topAndRight}h${-across}${corner} ${-r} ${-r}v${-down}${corner} ${r} ${-r}z`;
}

const thick = (d: string, width: number): Path => ({ d, 'stroke-width': width });
const round = (d: string): Path => ({ d, 'stroke-linejoin': 'round' });

const SOLID = { fill: 'currentColor', stroke: 'none' };
const DISC = circle(8, 8, 6.25);
const OCTAGON = 'M5.5 1.75h5l3.75 3.75v5L10.5 14.25h-5L1.75 10.5v-5z';

// Drawn by hand on a grid of 16, with a stroke of 1.5. Each state has a shape of its own, so that colour is not needed.
const PARTS = {
  completed: [DISC, 'm5.4 8.2 1.8 1.8 3.5-3.9'],
  dead: [OCTAGON, 'm6 6 4 4m0-4-4 4'],
  active: [DISC, { ...round('M6.6 5.4v5.2L10.8 8z'), fill: 'currentColor' }],
  prefetched: [DISC, 'M8 4.8v5m-2.2-2.2L8 9.8l2.2-2.2'],
  waiting: [DISC, thick('M5.2 8h.01M8 8h.01M10.8 8h.01', 2)],
  scheduled: [DISC, 'M8 4.5V8l2.3 1.6'],
  blocked: [{ d: DISC, 'stroke-dasharray': '2.4 2.5' }, 'M5.5 8h5'],
  staged: [circle(8, 5.4, 2.4), 'M3.2 13.6c.4-2.6 2.3-4 4.8-4s4.4 1.4 4.8 4'],
  cancelled: [DISC, 'm3.7 12.3 8.6-8.6'],
  removed: ['M3 4.5h10M6.2 4.3V2.8h3.6v1.5m-5.4.2.6 8.7h6l.6-8.7'],
  paused: [DISC, 'M6.4 5.6v4.8m3.2-4.8v4.8'],
  broken: [OCTAGON, thick('M8 4.8v3.9M8 11h.01', 1.8)],
  attention: [round('M8 2.1 14.4 13.4H1.6z'), thick('M8 6.3v3.2m0 1.9h.01', 1.7)],
  ok: [DISC, 'm5.2 8.3 1.9 1.9 3.7-4.2'],
  idle: [DISC, 'M5.5 8h5'],
  overview: ['M2 13.2h12M3.6 10.6V7.2m3.4 3.4V3.4m3.4 7.2V5.6m2.9 5V8.4'],
  queues: [box(2, 2.5, 12, 3, 1), box(2, 6.9, 12, 3, 1), 'M3 12.9h10'],
  jobs: [box(2.2, 2.2, 11.6, 11.6, 2), 'M5 5.8h6M5 8.2h6M5 10.6h3.4'],
  flow: [
    circle(3.6, 8, 1.9),
    circle(12.4, 3.9, 1.9),
    circle(12.4, 12.1, 1.9),
    'M5.5 8h1.8c1.8 0 1.2-4.1 3.2-4.1M7.3 8c1.8 0 1.2 4.1 3.2 4.1',
  ],
  schedules: [box(2, 3, 12, 11, 2), 'M2 6.4h12M5.2 1.8v2.4m5.6-2.4v2.4'],
  workers: [box(2, 2.4, 12, 4.6, 1.2), box(2, 9, 12, 4.6, 1.2), thick('M4.6 4.7h.01M4.6 11.3h.01', 1.9)],
  people: [
    circle(6, 5.4, 2.3),
    'M1.8 13.4c.4-2.6 2-3.9 4.2-3.9s3.8 1.3 4.2 3.9M10.6 3.3a2.2 2.2 0 0 1 0 4.2m1.3 2.3c1.3.5 2.1 1.7 2.3 3.6',
  ],
  topics: [
    thick('M8 8h.01', 2.4),
    'M5.2 10.8a4 4 0 0 1 0-5.6m5.6 0a4 4 0 0 1 0 5.6M3.1 12.9a7 7 0 0 1 0-9.8m9.8 0a7 7 0 0 1 0 9.8',
  ],
  audit: [round('M4 1.9h6l2.6 2.6v9.6H4z'), 'M6.2 7h4M6.2 9.4h4M6.2 11.7h2'],
  search: [circle(7, 7, 4.7), 'm10.5 10.5 3.5 3.5'],
  retry: ['M13.2 8A5.2 5.2 0 1 1 11.5 4.2L13.2 5.8', 'M13.3 2.3v3.6H9.7'],
  more: [thick('M3.5 8h.01M8 8h.01M12.5 8h.01', 2.3)],
  chevron: ['m6 3.5 4.5 4.5L6 12.5'],
  down: ['m3.5 6 4.5 4.5L12.5 6'],
  copy: [
    box(5.3, 5.3, 8.2, 8.2, 1.6),
    'M10.7 3.2a1.3 1.3 0 0 0-1.1-.700H3.8a1.3 1.3 0 0 0-1.3 1.3v5.8c0 .500.3.900.7 1.1',
  ],
  close: ['m4 4 8 8m0-8-8 8'],
  lock: [box(3.3, 7, 9.4, 6.6, 1.4), 'M5.3 7V5a2.7 2.7 0 0 1 5.4 0v2'],
  sun: [circle(8, 8, 2.9), 'M8 1.5v1.4m0 10.2v1.4M1.5 8h1.4m10.2 0h1.4M3.4 3.4l1 1m7.2 7.2 1 1m0-9.2-1 1m-7.2 7.2-1 1'],
  moon: [round('M13.4 9.7A5.8 5.8 0 0 1 6.3 2.6a5.8 5.8 0 1 0 7.1 7.1z')],
  auto: [circle(8, 8, 5.8), { d: 'M8 2.2a5.8 5.8 0 0 1 0 11.6z', fill: 'currentColor' }],
  worse: ['M3.5 12.5 12 4m0 0H6.8M12 4v5.2'],
  steady: ['M2.5 8h10.5m0 0L9.6 4.6M13 8l-3.4 3.4'],
  plus: ['M8 3v10M3 8h10'],
  minus: ['M3 8h10'],
  fit: ['M2.5 6V2.5H6m4 0h3.5V6m0 4v3.5H10m-4 0H2.5V10'],
  edit: [round('m2.8 13.2.700-3L10.7 3a1.6 1.6 0 0 1 2.3 2.3L5.8 12.5z')],
  gauge: ['M2.2 12a6.2 6.2 0 1 1 11.6 0', 'm8 10.5 2.7-4'],
  play: [round('M5 3.2v9.6L12.6 8z')],
  signal: [thick('M8 8h.01', 2.4), 'M5.2 10.8a4 4 0 0 1 0-5.6m5.6 0a4 4 0 0 1 0 5.6'],
  logo: [
    { ...SOLID, d: box(1.5, 2.5, 13, 3.2, 1.6), opacity: 0.35 },
    { ...SOLID, d: box(1.5, 6.7, 9.5, 3.2, 1.6), opacity: 0.65 },
    { ...SOLID, d: box(1.5, 10.9, 6, 3.2, 1.6) },
  ],
} satisfies Record<string, readonly Part[]>;

export type IconName = keyof typeof PARTS;

/** A shape; the word beside it has the meaning. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  const parts: readonly Part[] = PARTS[name];
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
      {parts.map((part) => {
        const path = typeof part === 'string' ? { d: part } : part;
        return <path key={path.d} {...path} />;
      })}
    </svg>
  );
}
