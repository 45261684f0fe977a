import uPlot from 'uplot';
import type { Series } from './series.js';

export interface PlotSettings {
  readonly height: number;
  readonly width: number;
  /** Charts with the same name move their cursors together. */
  readonly sync: string | undefined;
  readonly hasTimeAxis: boolean;
  /** The values are durations in milliseconds. */
  readonly isDuration: boolean;
  format(value: number): string;
  onCursor(index: number | null): void;
  onDraw(plot: uPlot): void;
}

// Round durations in milliseconds, so that an axis reads 0, 30 s, 1 min and not 0, 33 s.
const DURATIONS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1.5e4, 3e4, 6e4, 1.2e5, 3e5, 6e5, 9e5],
  ...[1.8e6, 3.6e6, 7.2e6, 1.44e7, 2.88e7, 8.64e7, 1.728e8],
];
const FONT = '11px system-ui, sans-serif';
const DAY_MS = 86_400_000;

/** How the chart looks in the present theme. Its data follow by `setData`. */
export function plotOptions(series: readonly Series[], settings: PlotSettings): uPlot.Options {
  const { height, width, sync, hasTimeAxis, onCursor, onDraw } = settings;
  return {
    ...{ width, height, padding: [8, 18, hasTimeAxis ? 0 : 4, 0], legend: { show: false } },
    cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false }, ...(sync && { sync: { key: sync } }) },
    scales: {
      x: { time: true, range: rangeOfTime },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.12 : 1] },
    },
    axes: axesOf(settings),
    series: [{}, ...series.map(seriesOf)],
    hooks: { setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)], draw: [onDraw] },
  };
}

/** Half a step at both ends, so that the first and the last bar are whole. */
function rangeOfTime(plot: uPlot, min: number, max: number): uPlot.Range.MinMax {
  const [first = 0, second = first + 60] = plot.data[0];
  return [min - (second - first) / 2, max + (second - first) / 2];
}

function axesOf({ height, hasTimeAxis, isDuration, format }: PlotSettings): uPlot.Axis[] {
  const [stroke, grid] = [colorOf('text-3'), colorOf('line')];
  const ticks = { show: false };
  return [
    {
      ...{ show: hasTimeAxis, stroke, font: FONT, size: 26, gap: 5, grid: { show: false }, ticks, space: 70 },
      values: (plot, splits) => splits.map((seconds) => timeLabel(seconds * 1000, plot.data[0])),
    },
    {
      ...{ stroke, font: FONT, size: 52, gap: 6, grid: { stroke: grid, width: 1 }, ticks },
      ...{ space: height < 90 ? 22 : 38, ...(isDuration && { incrs: DURATIONS }) },
      values: (_plot, splits) => splits.map(format),
    },
  ];
}

function seriesOf({ label, color, kind, dash }: Series): uPlot.Series {
  const stroke = colorOf(color);
  const bars = uPlot.paths.bars!({ size: [0.68, 14], radius: 0.2 });
  if (kind === 'bars') return { label, stroke, width: 0, fill: stroke, paths: bars, points: { show: false } };
  return {
    ...{ label, stroke, width: 1.75, paths: uPlot.paths.spline!(), ...(dash && { dash }) },
    ...(kind === 'area' && { fill: faded(stroke, 0.12) }),
    // A line needs two values.
    points: { show: (plot, index) => knownOf(plot.data[index] ?? []) < 2, size: 5 },
  };
}

const knownOf = (values: ArrayLike<number | null | undefined>) =>
  Array.from(values).filter((value) => value !== null && value !== undefined).length;

/** The colour of a token as the canvas needs it. */
export function colorOf(token: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const faded = (color: string, alpha: number) => color.replace(/^rgb\(([^)]+)\)$/, `rgba($1, ${alpha})`);

function timeLabel(ms: number, seconds: ArrayLike<number>): string {
  const spanMs = ((seconds[seconds.length - 1] ?? 0) - (seconds[0] ?? 0)) * 1000;
  const date = new Date(ms);
  if (spanMs > 4 * DAY_MS) return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
