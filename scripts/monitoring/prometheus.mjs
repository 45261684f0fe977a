// Prometheus and promtool: those of the folder that PROMETHEUS names, else those in PATH, else Debian's, unpacked in a
// cache.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The paths of both programs. Throws an error that says how to provide them if there are none. */
export async function findPrometheus() {
  const { PROMETHEUS: named, PATH: path = '' } = process.env;
  const folders = named ? [named] : path.split(delimiter);
  const found = folders.find((folder) => ['prometheus', 'promtool'].every((name) => existsSync(join(folder, name))));
  const folder = found ?? (await unpackFromDebian());
  return { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool') };
}

async function unpackFromDebian() {
  const advice = 'set PROMETHEUS to a folder with prometheus and promtool';
  if (process.platform !== 'linux') throw new Error(`No Prometheus in PATH: ${advice}`);
  const { stdout } = await run('bash', [join(import.meta.dirname, 'prometheus.sh')]).catch(({ stderr }) => {
    throw new Error(`No Prometheus: ${advice}\n${stderr}`);
  });
  return stdout.trim();
}
