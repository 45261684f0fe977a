import { NODE, type Point } from './layout.js';

interface Props {
  readonly from: Point;
  readonly to: Point;
  readonly via: readonly Point[];
  readonly isVertical: boolean;
  readonly state: string;
}

const TIP = 5;

/** The line from a job to one that needs it. */
export function EdgeLine({ from, to, via, isVertical, state }: Props) {
  const [halfWidth, halfHeight] = [NODE.width / 2, NODE.height / 2];
  const start = isVertical ? { x: from.x, y: from.y + halfHeight } : { x: from.x + halfWidth, y: from.y };
  const end = isVertical ? { x: to.x, y: to.y - halfHeight } : { x: to.x - halfWidth, y: to.y };
  const beforeTip = isVertical ? { x: end.x, y: end.y - TIP } : { x: end.x - TIP, y: end.y };
  // A line over several ranks needs its bends; a line to the next rank does not.
  const bends = via.length > 1 ? via : [];
  const tip = isVertical ? `M${end.x} ${end.y}l-3.5-6h7z` : `M${end.x} ${end.y}l-6-3.5v7z`;
  return (
    <g class={`edge e-${state}`}>
      <path d={curve([start, ...bends, beforeTip], isVertical)} />
      <path class="tip" d={tip} />
    </g>
  );
}

/** A smooth line through the points. */
function curve(points: readonly Point[], isVertical: boolean): string {
  const at = (x: number, y: number) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return points
    .map((point, index) => {
      const before = points[index - 1];
      if (!before) return `M${at(point.x, point.y)}`;
      const [middleX, middleY] = [(before.x + point.x) / 2, (before.y + point.y) / 2];
      const bends = isVertical
        ? `${at(before.x, middleY)} ${at(point.x, middleY)}`
        : `${at(middleX, before.y)} ${at(middleX, point.y)}`;
      return `C${bends} ${at(point.x, point.y)}`;
    })
    .join('');
}
