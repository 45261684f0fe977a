import type { MetricsPoint } from '../../../admin/read-history.js';
import { age } from '../../../common/units.js';
import { oneOf, type Command } from '../command.js';
import { requireExisting } from '../existing-queue.js';
import { table, time } from '../output.js';

const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const STEPS = Object.keys(STEP_MS) as (keyof typeof STEP_MS)[];

const BARS = '▁▂▃▄▅▆▇█';

export const history: Command = {
  usage: '<queue> [--step minute|hour|day] [--count N]',
  args: [1, 1],
  async run({ engine, args: [queue], options, output }) {
    const step = oneOf(`--step to be ${STEPS.join(', ')}`, STEPS, options.text('step') ?? 'minute');
    const count = options.wholeNumber('count', 1, 500) ?? 30;
    await requireExisting({ engine }, queue);
    const from = new Date(engine.clock.now().getTime() - count * STEP_MS[step]);
    const points = await engine.admin.history(queue!, { from, step });
    output.result(points, () => (points.length === 0 ? 'No attempts.' : describe(points)));
  },
};

function describe(points: readonly MetricsPoint[]): string {
  const rows = points.map(({ at, completed, failed, dead, cancelled, waitMs, runMs }) => [
    ...[time(at), completed, failed, dead, cancelled],
    ...[waitMs?.p50, waitMs?.p95, runMs?.p50, runMs?.p95].map((ms) => age(ms ?? null)),
  ]);
  const titles = ['FROM', 'COMPLETED', 'FAILED', 'DEAD', 'CANCELLED', 'WAIT P50', 'WAIT P95', 'RUN P50', 'RUN P95'];
  const lines = [
    ['completed', sparkline(points.map(({ completed }) => completed))],
    ['failed', sparkline(points.map(({ failed }) => failed))],
    ['wait p95', sparkline(points.map(({ waitMs }) => waitMs?.p95 ?? 0))],
    ['run p95', sparkline(points.map(({ runMs }) => runMs?.p95 ?? 0))],
  ].map(([name, bars]) => `${name!.padEnd(10)} ${bars}`);
  return [table(titles, rows), '', ...lines].join('\n');
}

/** One bar per value, relative to the largest one. */
export function sparkline(values: readonly number[]): string {
  const max = Math.max(...values, 0);
  return values.map((value) => BARS[max === 0 ? 0 : Math.ceil((value / max) * (BARS.length - 1))]).join('');
}
