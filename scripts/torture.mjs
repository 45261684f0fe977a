// npm run torture -- [--minutes 5] [--seed N] [--server mysql|mariadb|galera|group-replication]
//   [--fault 'disk full,read-only'] [--break 'NAME']
//
// Runs workers and producers on their own server while a nemesis injects faults. Then a checker reads the whole history
// and reports every violation of a guarantee. A seed repeats the schedule of faults, as far as processes allow. --break
// removes one fence from the copy of the library that the processes run; the checker must then find violations.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { clusterKinds, serverKinds } from './databases/servers.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    server: { type: 'string', default: 'mysql' },
    fault: { type: 'string' },
    break: { type: 'string' },
  },
});
const seconds = Math.round(Number(values.minutes) * 60);
const seed = Number(values.seed);
if (
  !(seconds > 0) ||
  !Number.isInteger(seed) ||
  ![...Object.keys(serverKinds), ...clusterKinds].includes(values.server)
) {
  console.error(
    `expected --minutes above 0, --seed a whole number, --server mysql, mariadb, galera or group-replication; ` +
      `got ${values.minutes}, ${values.seed}, ${values.server}`,
  );
  process.exit(2);
}
const cluster = clusterKinds.includes(values.server) ? values.server : undefined;
const faults = values.fault?.split(',').map((fault) => fault.trim());
console.error(`${values.server}, ${values.minutes} minutes, seed ${seed}`);
const test = spawn(
  process.execPath,
  [
    join(import.meta.dirname, 'test.mjs'),
    // A cluster starts its own nodes, so the run starts no server.
    '--server',
    cluster ? 'sqlite' : values.server,
    'test/faults/torture.long.spec.ts',
    '--project=nest12',
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(values.break && { SQL_QUEUE_BREAK: values.break }),
      SQL_QUEUE_TORTURE: JSON.stringify({ seconds, seed, cluster, faults }),
    },
  },
);
// Ctrl-C reaches both processes: the tests end in order, and this script after them.
process.on('SIGINT', () => undefined);
const [code] = await once(test, 'exit');
process.exitCode = code ?? 1;
