import { useMemo } from 'preact/hooks';
import type { Point, Problem } from '../answers.js';
import { compact, duration } from '../format.js';
import { Card, Skeleton } from '../parts/layout.js';
import type { Series } from './series.js';
import { TimeChart } from './time-chart.js';

export const STEPS = {
  minute: { ms: 60_000, text: '1 hour' },
  hour: { ms: 3_600_000, text: '60 hours' },
  day: { ms: 86_400_000, text: '60 days' },
} as const;

export type Step = keyof typeof STEPS;

export const RANGES = (Object.keys(STEPS) as Step[]).map((step) => [step, STEPS[step].text] as const);

export const stepOf = (text: string | undefined): Step => (text === 'hour' || text === 'day' ? text : 'minute');

const POINTS = 60;

type EvenPoint = Omit<Point, 'at' | 'step' | 'dead' | 'cancelled'> & { readonly at: number };

/**
 * One point per step: a step without attempts has none in the answer. The present step has just begun, and would look like
 * a fall.
 */
export function evenPoints(points: readonly Point[], step: Step): EvenPoint[] {
  const { ms } = STEPS[step];
  const present = Math.floor(Date.now() / ms) * ms;
  const byTime = new Map(points.filter((point) => point.step === step).map((point) => [Date.parse(point.at), point]));
  const last = byTime.size === 1 && byTime.has(present) ? present : present - ms;
  return Array.from({ length: POINTS }, (_, index) => {
    const at = last - (POINTS - 1 - index) * ms;
    return { completed: 0, failed: 0, waitMs: null, runMs: null, ...byTime.get(at), at };
  });
}

interface AttemptsProps {
  readonly points: readonly Point[];
  readonly step: Step;
  /** The charts of an hour show when the first failing queue began to fail. */
  readonly problems: readonly Problem[];
}

/** Failures have a scale of their own: beside thousands of completions they would be invisible. */
export function AttemptCharts({ points, step, problems }: AttemptsProps) {
  const { times, completed, failed } = useMemo(() => {
    const even = evenPoints(points, step);
    return {
      times: even.map(({ at }) => at),
      completed: [
        {
          ...({ label: `per ${step}`, color: 'completed', kind: 'area' } as const),
          values: even.map((point) => point.completed),
        },
      ],
      failed: [
        { ...({ label: 'attempts', color: 'dead', kind: 'bars' } as const), values: even.map((point) => point.failed) },
      ],
    };
  }, [points, step]);
  const since = step === 'minute' ? problems.find(({ rule }) => rule === 'failing')?.since : undefined;
  const shared = { times, sync: 'time', format: compact, sinceMs: since ? Date.parse(since) : undefined };
  return (
    <>
      <TimeChart label="Completed" series={completed} height={150} hasTimeAxis={false} hasSinceText {...shared} />
      <TimeChart label="Failed" series={failed} height={84} {...shared} />
    </>
  );
}

const PERCENTILES: readonly (Omit<Series, 'values'> & { readonly key: 'p50' | 'p95' | 'p99' })[] = [
  { key: 'p50', label: 'half', color: 'active', kind: 'area' },
  { key: 'p95', label: '95 %', color: 'scheduled', kind: 'line', dash: [6, 3] },
  { key: 'p99', label: '99 %', color: 'attention', kind: 'line', dash: [2, 3] },
];

interface LatencyProps {
  /** Undefined before the answer. */
  readonly points: readonly Point[] | undefined;
  readonly step: Step;
  readonly title: string;
  readonly field: 'waitMs' | 'runMs';
  readonly height: number;
  /** The grey bars before the answer. */
  readonly skeleton: number;
}

export function LatencyCard({ points, step, title, field, height, skeleton }: LatencyProps) {
  const { times, series } = useMemo(() => {
    const even = evenPoints(points ?? [], step);
    const values = (key: 'p50' | 'p95' | 'p99') => even.map((point) => point[field]?.[key] ?? null);
    return {
      times: even.map(({ at }) => at),
      series: PERCENTILES.map(({ key, ...one }) => ({ ...one, values: values(key) })),
    };
  }, [points, step, field]);
  return (
    <Card isFlush class="chart-card">
      {points ? (
        <TimeChart
          label={title}
          {...{ times, series, height }}
          sync="time"
          isDuration
          format={(value) => duration(Math.round(value))}
        />
      ) : (
        <Skeleton rows={skeleton} />
      )}
    </Card>
  );
}
