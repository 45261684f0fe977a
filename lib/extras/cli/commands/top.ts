import { systemClock } from '../../../common/clock.js';
import type { QueueProblem } from '../../../job/problems/queue-problem.js';
import type { QueueStats } from '../../../store/features/stats/stats-store.js';
import type { Call, Command } from '../command.js';
import { UsageError } from '../errors.js';
import { requireExisting } from '../existing-queue.js';
import { printable, time } from '../output.js';
import { problemLine, readProblems } from '../problem-lines.js';
import { onStopSignal } from '../stop-signals.js';
import { topTable } from './queue-table.js';
import { readStats } from './read-stats.js';
import { TopRates } from './top-rates.js';
import { TopView } from './top-view.js';

const PAUSE_MS = 2_000;
// The problems come first, and leave most of the screen to the queues.
const MAX_PROBLEMS = 3;
const ROWS_FOR_PROBLEMS = 12;
// Another screen without a cursor, whose lines do not wrap.
const ENTER_SCREEN = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE_SCREEN = '\x1b[?7h\x1b[?25h\x1b[?1049l';
const CLEAR = '\x1b[H\x1b[2J';
const COLOURS = { broken: '31', attention: '33', heading: '1', soft: '2' };

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
    const screen = new TopScreen(call);
    const onKeys = (keys: Buffer | string) => {
      if (screen.press(keys.toString())) leave();
    };
    const restoreSignals = onStopSignal(leave);
    terminal.input.setRawMode?.(true);
    terminal.input.on('data', onKeys);
    terminal.write(ENTER_SCREEN);
    try {
      await redraw(screen, leaving.signal);
    } finally {
      terminal.input.off('data', onKeys).pause();
      terminal.write(LEAVE_SCREEN);
      terminal.input.setRawMode?.(false);
      restoreSignals();
    }
  },
};

/** Resolves when the signal is aborted, even if the database does not answer. */
async function redraw(screen: TopScreen, signal: AbortSignal): Promise<void> {
  const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  while (!signal.aborted) {
    await Promise.race([screen.update(), left]);
    await systemClock.sleep(PAUSE_MS, signal);
  }
}

/** What the last read has found. */
interface Reading {
  readonly stats: readonly QueueStats[];
  readonly problems: readonly QueueProblem[];
  readonly error?: Error;
}

type Colour = keyof typeof COLOURS;
type Line = readonly [text: string, colour?: Colour];

class TopScreen {
  readonly #view = new TopView();
  readonly #rates: TopRates;
  #reading: Reading | undefined;
  #hasLeft = false;

  constructor(private readonly call: Call) {
    this.#rates = new TopRates(call.engine);
  }

  /** Draws at once. Returns whether a key leaves the screen. */
  press(keys: string): boolean {
    this.#hasLeft = this.#view.press(keys);
    if (!this.#hasLeft) this.#draw();
    return this.#hasLeft;
  }

  /** Reads and draws, unless the person has paused the screen. */
  async update(): Promise<void> {
    if (this.#view.isPaused) return;
    const reading = await this.#read().catch((error: Error) => ({ stats: [], problems: [], error }));
    if (this.#view.isPaused || this.#hasLeft) return;
    this.#reading = reading;
    this.#draw();
  }

  async #read(): Promise<Reading> {
    const { engine, args } = this.call;
    const [queue] = args;
    const stats = await readStats(engine, { maxAge: PAUSE_MS, ...(queue !== undefined && { queue }) });
    const problems = this.#rows < ROWS_FOR_PROBLEMS ? [] : await readProblems(engine, stats, queue);
    await this.#rates.read(
      this.#view
        .queuesOf(stats)
        .slice(0, this.#rows)
        .map((one) => one.queue),
    );
    return { stats, problems };
  }

  #draw(): void {
    if (!this.#reading) return;
    const lines = this.#linesOf(this.#reading).slice(0, this.#rows - 1);
    // Raw mode does not return the carriage.
    this.call.terminal.write(`${CLEAR}${lines.map((line) => this.#coloured(line)).join('\r\n')}`);
  }

  /** A terminal without a size has 0 rows. */
  get #rows(): number {
    return this.call.terminal.rows() || Infinity;
  }

  get #columns(): number {
    return this.call.terminal.columns?.() || Infinity;
  }

  #linesOf({ stats, problems, error }: Reading): Line[] {
    const sampledAt = stats[0]?.sampledAt;
    const facts = error ? time(systemClock.now()) : sampledAt ? `sampled at ${time(sampledAt)}` : 'no queues';
    const title: Line = [`${facts}, ${this.#view.describe()}`, 'soft'];
    if (error) return [title, [''], [error.message, 'broken']];
    const more = problems.length - MAX_PROBLEMS;
    const shown: Line[] = [
      ...problems.slice(0, MAX_PROBLEMS).map((one): Line => [problemLine(one), one.severity]),
      ...(more > 0 ? [[`and ${more} more: \`nestjs-sql-queue status\``] as const] : []),
    ];
    const queues = this.#view.queuesOf(stats);
    const [heading, ...rows] =
      queues.length > 0 ? topTable(queues, (queue) => this.#rates.of(queue), this.#columns) : [];
    return [
      ...[title, [''] as const],
      ...(shown.length > 0 ? [...shown, [''] as const] : []),
      ...(heading === undefined ? [] : [[heading, 'heading'] as const]),
      ...rows.map((row, index): Line => [row, worstOf(problems, queues[index]!.queue)]),
      ...(queues.length === 0 && stats.length > 0 ? [['No queue has such a name.'] as const] : []),
    ];
  }

  #coloured([text, colour]: Line): string {
    const { env } = this.call;
    const shown = printable(text);
    const hasColours = !env.NO_COLOR && env.TERM !== 'dumb';
    return colour === undefined || !hasColours ? shown : `\x1b[${COLOURS[colour]}m${shown}\x1b[0m`;
  }
}

/** The problems are in the order of their urgency. */
function worstOf(problems: readonly QueueProblem[], queue: string): Colour | undefined {
  return problems.find((one) => one.queue === queue)?.severity;
}
