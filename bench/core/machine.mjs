import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { now } from './clock.mjs';
import { median } from './statistics.mjs';

const SYNCS = 200;

/** The machine of the figures. `scratch` is a path on the disk of the databases. */
export function describeMachine(scratch) {
  return {
    cpu: cpus()[0].model.trim(),
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${systemName()}, ${type()} ${release()}`,
    node: process.version,
    fsyncMs: fsyncMs(scratch),
  };
}

function systemName() {
  try {
    return /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))[1];
  } catch {
    return 'unknown distribution';
  }
}

/** The median time to write and sync 4 kB, for which every durable commit waits. */
function fsyncMs(path) {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(4_096, 'x');
  const waits = Array.from({ length: SYNCS }, () => {
    const started = now();
    writeSync(file, block);
    fsyncSync(file);
    return now() - started;
  });
  closeSync(file);
  return median(waits);
}
