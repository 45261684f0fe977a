import type uPlot from 'uplot';
import { clock } from '../format.js';
import { colorOf } from './plot-options.js';

/** Draws a line at the time at which a problem began, with its text on the upper chart. */
export function drawSince(plot: uPlot, sinceMs: number, hasText: boolean): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const x = Math.max(left, plot.valToPos(sinceMs / 1000, 'x', true));
  if (x > left + width) return;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colorOf('dead');
  ctx.fillRect(x, top, 1.5 * pixel, height);
  if (hasText) drawText(ctx, `failing since ${clock(sinceMs)}`, { x, top, right: left + width });
  ctx.restore();
}

function drawText(
  ctx: CanvasRenderingContext2D,
  text: string,
  { x, top, right }: { x: number; top: number; right: number },
): void {
  const pixel = devicePixelRatio;
  ctx.font = `600 ${11 * pixel}px system-ui, sans-serif`;
  const wide = ctx.measureText(text).width + 14 * pixel;
  // A problem of the last minutes has its text at the left of the line.
  const isLeft = x + wide > right;
  const start = isLeft ? x - wide : x;
  const corner = 5 * pixel;
  ctx.beginPath();
  ctx.roundRect(start, top, wide, 19 * pixel, isLeft ? [corner, 0, 0, corner] : [0, corner, corner, 0]);
  ctx.fill();
  ctx.fillStyle = colorOf('surface');
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillText(text, start + 7 * pixel, top + 10 * pixel);
}
