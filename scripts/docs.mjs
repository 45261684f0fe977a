// npm run docs, docs:build or docs:test: serves, builds or checks the documentation site of website/.
//
// The site has packages of its own, which the first run installs into website/node_modules.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onStopSignal } from './stop-signal.mjs';

const root = resolve(import.meta.dirname, '..');
const website = join(root, 'website');
const vitepress = join(website, 'node_modules/vitepress/bin/vitepress.js');

const COMMANDS = { serve, build: () => build(), test };

let child;
onStopSignal((signal, code) => {
  if (child === undefined) process.exit(code);
  child.kill(signal);
});

const [name = 'serve', ...args] = process.argv.slice(2);
if (!(name in COMMANDS)) {
  console.error(`Expected ${Object.keys(COMMANDS).join(', ')}, got "${name}"`);
  process.exit(2);
}
try {
  await COMMANDS[name]();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function serve() {
  await prepare();
  console.log('Serving the site. It follows changes of docs/ and README.md. Ctrl-C ends it.');
  await run(process.execPath, [vitepress, 'dev', website, '--host', '127.0.0.1', ...args]);
}

async function build(output = join(website, '.vitepress/dist'), address = process.env.DOCS_URL) {
  await prepare();
  console.log(`Building the site${address ? ` for ${address}` : ''} …`);
  const env = { ...process.env, DOCS_OUT: output, ...(address && { DOCS_URL: address }) };
  // Most objects of a build are short-lived: a larger young generation saves a sixth of the CPU time.
  await run(process.execPath, ['--max-semi-space-size=64', vitepress, 'build', website], { env });
  console.log(`The site: ${output}`);
}

async function test() {
  const { checkSite, ADDRESS } = await import('./docs/check.mjs');
  const output = join(website, '.vitepress/checked');
  // For work on the check itself.
  if (!args.includes('--built')) await build(output, ADDRESS);
  const problems = await checkSite(output);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) throw new Error(`${problems.length} problems`);
}

async function prepare() {
  const installed = join(website, 'node_modules/.package-lock.json');
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(join(website, 'package-lock.json')).mtimeMs) {
    console.log('Installing the packages of website/ …');
    // npm is a script of its own on Windows.
    const npm = { shell: process.platform === 'win32' };
    await run('npm', ['ci', '--prefix', website, '--ignore-scripts', '--no-audit', '--no-fund'], npm);
  }
  console.log('Reading the doc comments of lib …');
  await run(process.execPath, [join(website, 'source/api.mjs')]);
}

function run(command, args, options = {}) {
  return new Promise((done, failed) => {
    child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
    child.once('error', failed);
    child.once('exit', (code, signal) => {
      child = undefined;
      if (code === 0 || signal === 'SIGINT' || signal === 'SIGTERM') done();
      else failed(new Error(`${[command, ...args].join(' ')} ended with ${signal ?? code}`));
    });
  });
}
