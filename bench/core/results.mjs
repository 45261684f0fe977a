import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatted } from './formatted.mjs';

const RESULTS = join(import.meta.dirname, '../results/latest.json');

/**
 * What has been measured, by scenario and contestant. Written after every run, so that an interrupted one loses nothing;
 * a contestant measured again replaces its earlier figures and no others.
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
   * One after the other, where several are measured at once.
   *
   * @param tidy as `npm run format` would leave it; not needed while the run goes on
   */
  write({ tidy = false } = {}) {
    return (this.#writing = this.#writing.catch(() => {}).then(() => this.#write(tidy)));
  }

  async #write(tidy) {
    const text = `${JSON.stringify(this.data, null, 2)}\n`;
    await mkdir(dirname(RESULTS), { recursive: true });
    // Renamed into place: whoever reads it finds the old one or the new one.
    await writeFile(`${RESULTS}.new`, tidy ? await formatted(text, RESULTS) : text);
    await rename(`${RESULTS}.new`, RESULTS);
  }
}
