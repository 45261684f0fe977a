// In which order Jest runs the files. Its own goes by how long each took the last time, and where it has never seen them,
// as on a fresh machine, by their size; but what takes long is what starts processes and servers, or asks a database many
// thousand times, and one such file that comes last keeps all others waiting.
import Sequencer from '@jest/test-sequencer';

const LONG = /\/test\/(faults|sample)\/|\/test\/store\/plans\./;

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const usual = super.sort(tests);
    if (usual.some(({ duration }) => duration !== undefined)) return usual;
    return [...usual.filter(({ path }) => LONG.test(path)), ...usual.filter(({ path }) => !LONG.test(path))];
  }
}
