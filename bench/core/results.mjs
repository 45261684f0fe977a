import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatted } from './formatted.mjs';

const RESULTS = join(import.meta.dirname, '../results/latest.json');

/**
 * The results by scenario and contestant. They are written after every run, so that an interrupted run loses none. A
 * contestant that is measured again replaces only its own earlier figures.
 */
export class Results {
  #measuredNow = new Set();
  #writing = Promise.resolve();

  constructor(data) {
    this.data = data;
  }

  static async read() {
    const text = await readFile(RESULTS, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return '{}';
      throw error;
    });
    return new Results({ contestants: {}, servers: {}, runs: {}, ...JSON.parse(text) });
  }

  add(scenario, contestant, run) {
    const key = `${scenario} ${contestant}`;
    const runs = (this.data.runs[scenario] ??= {});
    if (!this.#measuredNow.has(key)) runs[contestant] = [];
    this.#measuredNow.add(key);
    runs[contestant].push(run);
  }

  /**
   * Concurrent calls write one after the other.
   *
   * @param tidy formats the file as `npm run format` would; not needed during a run
   */
  write({ tidy = false } = {}) {
    return (this.#writing = this.#writing.catch(() => {}).then(() => this.#write(tidy)));
  }

  async #write(tidy) {
    const text = `${JSON.stringify(this.data, null, 2)}\n`;
    await mkdir(dirname(RESULTS), { recursive: true });
    // The rename is atomic: a reader finds the old file or the new one.
    await writeFile(`${RESULTS}.new`, tidy ? await formatted(text, RESULTS) : text);
    await rename(`${RESULTS}.new`, RESULTS);
  }
}
