import type { Line } from '../answers.js';

interface Props {
  /** One value for each minute, oldest first. */
  readonly completed?: readonly number[] | undefined;
  readonly failed?: readonly number[] | undefined;
  readonly width?: number;
  readonly height?: number;
  readonly label: string;
}

/** The last hour on one line: completed attempts as an area, failed ones as bars on a scale of their own. */
export function Sparkline({ completed, failed, width = 132, height = 30, label }: Props) {
  const count = Math.max(completed?.length ?? 0, failed?.length ?? 0);
  if (count === 0) return <span class="soft">–</span>;
  const most = Math.max(1, ...(completed ?? []));
  const low = failed ? height * 0.62 : height;
  return (
    <svg
      class="spark"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {completed && <Area values={completed} {...{ width, low, most }} />}
      {failed && (
        <Bars
          values={failed}
          {...{ width, height }}
          top={completed ? low + 2 : 0}
          most={Math.max(2, ...failed, completed ? most * 0.1 : 0)}
        />
      )}
    </svg>
  );
}

function Area({ values, width, low, most }: { values: readonly number[]; width: number; low: number; most: number }) {
  const x = (index: number) => ((index / Math.max(1, values.length - 1)) * width).toFixed(1);
  const y = (value: number) => (low - 1 - (value / most) * (low - 3)).toFixed(1);
  const line = values.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(value)}`).join('');
  return (
    <>
      <path class="spark-area" d={`${line}L${width} ${low}L0 ${low}Z`} />
      <path class="spark-line" d={line} />
    </>
  );
}

interface BarsProps {
  readonly values: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly top: number;
  readonly most: number;
}

function Bars({ values, width, height, top, most }: BarsProps) {
  const step = width / values.length;
  const bars = values.flatMap((value, index) => {
    if (value === 0) return [];
    const tall = Math.max(1, (value / most) * (height - top));
    return `M${(index * step).toFixed(1)} ${height}v${(-tall).toFixed(1)}h${Math.max(1, step - 0.6).toFixed(1)}V${height}z`;
  });
  return <path class="spark-bad" d={bars.join('')} />;
}

/** The last hour of a queue. The present minute has just begun, and would look like a fall. */
export function LastHour({ line, label, ...size }: { line: Line; label: string; width?: number; height?: number }) {
  const whole = (values: readonly number[]) => values.slice(0, -1);
  return <Sparkline completed={whole(line.completed)} failed={whole(line.failed)} label={label} {...size} />;
}
