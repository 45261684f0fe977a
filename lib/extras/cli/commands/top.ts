import { systemClock } from '../../../common/clock.js';
import type { Engine } from '../../../engine/engine.js';
import type { QueueProblem } from '../../../job/problems/queue-problem.js';
import type { QueueStats } from '../../../store/features/stats/stats-store.js';
import type { Call, Command } from '../command.js';
import { UsageError } from '../errors.js';
import { requireExisting } from '../existing-queue.js';
import { printable, time } from '../output.js';
import { problemLine, readProblems } from '../problem-lines.js';
import { onStopSignal } from '../stop-signals.js';
import { readStats } from './read-stats.js';
import { statusTable } from './status.js';

const PAUSE_MS = 2_000;
// The problems come first, and leave most of the screen to the queues.
const MAX_PROBLEMS = 3;
const ROWS_FOR_PROBLEMS = 12;
// Another screen without a cursor, whose lines do not wrap.
const ENTER_SCREEN = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE_SCREEN = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const CLEAR = '\x1b[H\x1b[2J';
// The last one is Ctrl-C.
const LEAVING_KEYS = ['q', 'Q', '\x03'];

export const top: Command = {
  usage: '[queue]',
  args: [0, 1],
  async run(call) {
    const { terminal } = call;
    if (!terminal.isInteractive || terminal.rows() === undefined)
      throw new UsageError('expected a terminal; `status` prints the same once');
    await requireExisting(call, call.args[0]);
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    const onKey = (key: Buffer | string) => {
      if (LEAVING_KEYS.some((one) => key.toString().includes(one))) leave();
    };
    const restoreSignals = onStopSignal(leave);
    terminal.input.setRawMode?.(true);
    terminal.input.on('data', onKey);
    terminal.write(ENTER_SCREEN);
    try {
      await redraw(call, leaving.signal);
    } finally {
      terminal.write(LEAVE_SCREEN);
      terminal.input.off('data', onKey).pause();
      terminal.input.setRawMode?.(false);
      restoreSignals();
    }
  },
};

/** Resolves when the signal is aborted, even if the database does not answer. */
async function redraw(call: Call, signal: AbortSignal): Promise<void> {
  const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  while (!signal.aborted) {
    const text = await Promise.race([screen(call), left]);
    if (text === undefined) return;
    call.terminal.write(`${CLEAR}${text}`);
    await systemClock.sleep(PAUSE_MS, signal);
  }
}

async function screen({ engine, args: [queue], terminal }: Call): Promise<string> {
  // A terminal without a size has 0 rows.
  const rows = terminal.rows() || Infinity;
  const lines = await readLines(engine, queue, rows).catch((error: Error) => [
    title(time(systemClock.now())),
    '',
    error.message,
  ]);
  // Raw mode does not return the carriage.
  return lines
    .slice(0, rows - 1)
    .map(printable)
    .join('\r\n');
}

async function readLines(engine: Engine, queue: string | undefined, rows: number): Promise<string[]> {
  const stats = await readStats(engine, { maxAge: PAUSE_MS, ...(queue !== undefined && { queue }) });
  return linesOf(stats, rows < ROWS_FOR_PROBLEMS ? [] : await readProblems(engine, stats, queue));
}

function linesOf(stats: QueueStats[], problems: readonly QueueProblem[]): string[] {
  const busy = ({ waiting, active, prefetched }: QueueStats) => waiting.value + active + prefetched;
  const busiest = [...stats].sort((a, b) => busy(b) - busy(a));
  const facts = stats[0] ? `sampled at ${time(stats[0].sampledAt)}` : 'no queues';
  const more = problems.length - MAX_PROBLEMS;
  const shown = [
    ...problems.slice(0, MAX_PROBLEMS).map(problemLine),
    ...(more > 0 ? [`and ${more} more: \`nestjs-sql-queue status\``] : []),
  ];
  return [
    ...[title(facts), ''],
    ...(shown.length > 0 ? [...shown, ''] : []),
    ...(stats.length > 0 ? statusTable(busiest).split('\n') : []),
  ];
}

const title = (facts: string) => `${facts}, q leaves`;
