// The order in which Jest runs the test files. Jest sorts by the durations of the last run, or by size if it has none,
// as on a fresh machine. Files that start processes and servers, or send thousands of statements, take longest whatever
// their size. One such file at the end would delay the whole run.
import Sequencer from '@jest/test-sequencer';

const LONG = /\/test\/(faults|sample)\/|\/test\/store\/plans\./;

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const usual = super.sort(tests);
    if (usual.some(({ duration }) => duration !== undefined)) return usual;
    return [...usual.filter(({ path }) => LONG.test(path)), ...usual.filter(({ path }) => !LONG.test(path))];
  }
}
