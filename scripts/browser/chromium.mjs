// The browser for tests of pages: the one that CHROMIUM names, else one of this machine, else Debian's, unpacked in a
// cache.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const NAMES = [
  'chromium',
  'chromium-headless-shell',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chromium-browser',
];

/** The path of a Chromium that starts. Throws an error that says how to provide one if there is none. */
export async function findChromium() {
  const { CHROMIUM: named, PATH: path = '' } = process.env;
  if (named) return named;

  const installed = NAMES.flatMap((name) => path.split(delimiter).map((folder) => join(folder, name)));
  for (const program of installed.filter((each) => existsSync(each))) {
    // Some distributions install a script here that only prints how to get the browser.
    const starts = await run(program, ['--version']).catch(() => undefined);
    if (starts) return program;
  }
  if (process.platform !== 'linux')
    throw new Error('No Chromium in PATH: set CHROMIUM to the path of one, or of Chrome');
  const { stdout } = await run('bash', [join(import.meta.dirname, 'chromium.sh')]).catch(({ stderr }) => {
    throw new Error(`No Chromium: set CHROMIUM to the path of one, or of Chrome\n${stderr}`);
  });
  return stdout.trim();
}
