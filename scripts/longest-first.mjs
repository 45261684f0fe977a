// The order in which Vitest runs the test files. Vitest sorts by the durations of the last run, or by size if it has
// none, as on a fresh machine. Files that start processes and servers, or send thousands of statements, take longest
// whatever their size. One such file at the end would delay the whole run.
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';

// The files of the first pattern are small, and take minutes.
const LONG = [
  /\/test\/faults\/(flows|groups|heartbeat-thread|key-races|steps|topics)\.long\./,
  /\/test\/(faults|sample)\/|\/test\/store\/plans\./,
];

export default class LongestFirst extends BaseSequencer {
  async sort(files) {
    const usual = await super.sort(files);
    if (usual.some((file) => this.#hasDuration(file))) return usual;
    return usual.sort((a, b) => rankOf(a) - rankOf(b));
  }

  #hasDuration({ project, moduleId }) {
    const key = `${project.name}:${relative(this.ctx.config.root, moduleId)}`;
    return this.ctx.cache.getFileTestResults(key) !== undefined;
  }
}

function rankOf({ moduleId }) {
  const rank = LONG.findIndex((pattern) => pattern.test(moduleId));
  return rank < 0 ? LONG.length : rank;
}
