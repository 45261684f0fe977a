import type { QueueStats } from '../../../store/features/stats/stats-store.js';

const KEYS = { ctrlC: '\x03', enter: ['\r', '\n'], escape: '\x1b', backspace: ['\x7f', '\b'] };
const MAX_FILTER_LENGTH = 100;

const loadOf = ({ waiting, active, prefetched }: QueueStats) => waiting.value + active + prefetched;

/** The orders of the queues, in which the key s goes through them. */
const ORDERS = {
  load: (a, b) => loadOf(b) - loadOf(a),
  oldest: (a, b) => (b.oldestWaitingMs ?? -1) - (a.oldestWaitingMs ?? -1),
  dead: (a, b) => b.dead.value - a.dead.value,
  name: (a, b) => (a.queue < b.queue ? -1 : 1),
} satisfies Record<string, (a: QueueStats, b: QueueStats) => number>;

const NAMES = Object.keys(ORDERS) as (keyof typeof ORDERS)[];

/** What a person has chosen by keys: the order and the filter of the queues, and whether the screen stays as it is. */
export class TopView {
  #order = 0;
  #filter = '';
  #isTyping = false;
  #isPaused = false;

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Returns whether a key leaves the screen. Several keys may come together. */
  press(keys: string): boolean {
    // A key such as an arrow is a sequence of its own.
    if (keys.length > 1 && keys.startsWith(KEYS.escape)) return false;
    return Array.from(keys).some(
      (key) => key === KEYS.ctrlC || (this.#isTyping ? this.#type(key) : this.#command(key)),
    );
  }

  queuesOf(stats: readonly QueueStats[]): QueueStats[] {
    const filter = this.#filter.toLowerCase();
    return stats.filter(({ queue }) => queue.toLowerCase().includes(filter)).sort(ORDERS[NAMES[this.#order]!]);
  }

  /** The choices and the keys, in words. */
  describe(): string {
    const typed = this.#isTyping ? `/${this.#filter}_` : this.#filter && `/${this.#filter}`;
    const facts = [`by ${NAMES[this.#order]!}`, ...(typed ? [typed] : []), ...(this.#isPaused ? ['paused'] : [])];
    const keys = this.#isTyping ? ['Enter keeps the filter', 'Esc clears it'] : ['s sorts', '/ filters', 'p pauses'];
    return [...facts, ...keys, 'q leaves'].join(', ');
  }

  #command(key: string): boolean {
    if (key === 's') this.#order = (this.#order + 1) % NAMES.length;
    else if (key === 'p') this.#isPaused = !this.#isPaused;
    else if (key === '/') this.#isTyping = true;
    else if (key === KEYS.escape) this.#filter = '';
    return key === 'q' || key === 'Q';
  }

  #type(key: string): false {
    if (key === KEYS.escape) this.#filter = '';
    if (key === KEYS.escape || KEYS.enter.includes(key)) this.#isTyping = false;
    else if (KEYS.backspace.includes(key)) this.#filter = this.#filter.slice(0, -1);
    else if (key >= ' ' && this.#filter.length < MAX_FILTER_LENGTH) this.#filter += key;
    return false;
  }
}
