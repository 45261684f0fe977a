import uPlot from 'uplot';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clock } from '../format.js';
import { isSystemDark, theme } from '../live/theme.js';
import { plotOptions } from './plot-options.js';
import type { Series } from './series.js';
import { drawSince } from './since-mark.js';

interface Props {
  readonly label: string;
  /** The same arrays between two readings: new ones are drawn anew. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly height: number;
  readonly sync?: string;
  readonly hasTimeAxis?: boolean;
  readonly isDuration?: boolean;
  /** When a problem began. */
  readonly sinceMs?: number | undefined;
  readonly hasSinceText?: boolean;
  format(value: number): string;
}

/** A chart over time. New data keep the cursor. A table has the same values in words. */
export function TimeChart(props: Props) {
  const { label, times, series, height, sync, hasTimeAxis = true, isDuration = false, format } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [at, setAt] = useState<number | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const data = useMemo(
    () => [times.map((time) => time / 1000), ...series.map(({ values }) => values)] as uPlot.AlignedData,
    [times, series],
  );
  const look = `${theme.value} ${isSystemDark.value} ${height}`;
  useEffect(() => {
    const element = box.current!;
    const onDraw = (drawn: uPlot) => {
      const { sinceMs, hasSinceText = false } = latest.current;
      if (sinceMs !== undefined) drawSince(drawn, sinceMs, hasSinceText);
    };
    const settings = { height, width: element.clientWidth, sync, hasTimeAxis, isDuration, format, onDraw };
    const drawn = new uPlot(plotOptions(series, { ...settings, onCursor: setAt }), data, element);
    plot.current = drawn;
    const observer = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.destroy();
    };
  }, [look]);
  useEffect(() => plot.current?.setData(data), [data, props.sinceMs]);
  const index = at ?? times.length - 1;
  return (
    <figure class="chart">
      <figcaption>
        <strong>{label}</strong>
        {series.map((one) => (
          <span key={one.label} class="key">
            <i class={`swatch c-${one.color} ${one.kind} ${one.dash ? 'dashed' : ''}`} />
            {one.label} <b>{valueText(one.values[index], format)}</b>
          </span>
        ))}
        {at !== null && times[at] !== undefined && <span class="key at">{clock(times[at])}</span>}
      </figcaption>
      <div ref={box} class="plot" role="img" aria-label={`${label}. ${series.map(summaryOf(format)).join(' ')}`} />
      <ValueTable {...{ times, series, format }} />
    </figure>
  );
}

/** The newest values, for screen readers and for copying. */
function ValueTable({ times, series, format }: Pick<Props, 'times' | 'series' | 'format'>) {
  const [isOpen, setOpen] = useState(false);
  const indexes = times.map((_, index) => index).reverse();
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map((one) => (
                <th key={one.label} scope="col" class="n">
                  {one.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {indexes.map((index) => (
              <tr key={times[index]}>
                <td>{clock(times[index]!)}</td>
                {series.map((one) => (
                  <td key={one.label} class="n">
                    {valueText(one.values[index], format)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

const valueText = (value: number | null | undefined, format: Props['format']) =>
  value === null || value === undefined ? '–' : format(value);

const summaryOf =
  (format: Props['format']) =>
  ({ label, values }: Series) =>
    `${label}: now ${valueText(values.at(-1), format)}, at most ${format(Math.max(0, ...values.map((one) => one ?? 0)))}.`;
