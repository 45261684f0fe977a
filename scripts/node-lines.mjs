// npm run test:node-lines [-- [--server mysql,mariadb,sqlite] [20.19|22|24|26 ...]]
//
// Runs both lines of the README in a clean clone of HEAD on each supported line of Node. Only some of the tests run, on
// the databases of --server, else on SQLite and the servers that MYSQL_URL and MARIADB_URL name. The last lines print the
// counts of each Node.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { fail } from './build.mjs';
import { onStopSignal } from './stop-signal.mjs';
import { nodeLines } from './supported.mjs';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const cache = join(homedir(), '.cache/nestjs-sql-queue/node');

const START = ['start', '--', '--once'];
const TESTS = [
  'test/nest/',
  'test/unit/',
  'test/package/',
  'test/testing/',
  'test/contract/claim',
  'test/worker/leases',
  // In Jest.
  'sample/01-signups/',
];

const { values, positionals } = parseArgs({ options: { server: { type: 'string' } }, allowPositionals: true });
const named = ['mysql', 'mariadb'].filter((name) => process.env[`${name.toUpperCase()}_URL`]);
const servers = values.server ?? ['sqlite', ...named].join(',');
const platformPackage = `node-${process.platform}-${process.arch}`;
let child;
onStopSignal((signal, exitCode) => {
  child?.kill(signal);
  process.exit(exitCode);
});

try {
  const reports = [];
  for (const line of readLines(positionals)) reports.push(await runOn(line));
  for (const { text } of reports) console.log(text);
  process.exitCode = reports.every(({ passed }) => passed) ? 0 : 1;
} catch (error) {
  fail(error);
}

async function runOn(line) {
  const bin = await install(line);
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    PORT: '0',
    // The headers for a driver that npm may have to compile.
    npm_config_nodedir: join(bin, '..', platformPackage),
  };
  const { stdout } = await run(join(bin, 'node'), ['--version']);
  const title = `Node ${stdout.trim()}`;
  const clone = await mkdtemp(join(tmpdir(), 'nestjs-sql-queue-node-'));
  try {
    await run('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
    for (const args of [['ci'], START, ['ci'], ['test', '--', '--server', servers, ...TESTS]]) {
      console.log(`\n${title}: npm ${args.join(' ')}`);
      const { code, text } = await npm(bin, args, { cwd: clone, env });
      const counts = /^\d+ passed, \d+ failed.*$/m.exec(text)?.[0];
      if (code !== 0)
        return { passed: false, text: `${title}: npm ${args[0]} failed: ${counts ?? `exit code ${code}`}` };
      if (counts) return { passed: true, text: `${title}: ${counts}` };
    }
    return { passed: false, text: `${title}: npm test printed no counts` };
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
}

/** The folder with the `node` and `npm` of the line. */
async function install(line) {
  const folder = join(cache, line);
  await mkdir(folder, { recursive: true });
  const { node, npm } = nodeLines[line];
  const packages = [`${platformPackage}@${node}`, `npm@${npm}`];
  await run('npm', ['install', '--prefix', folder, '--no-save', '--no-package-lock', '--ignore-scripts', ...packages]);
  return join(folder, 'node_modules/.bin');
}

async function npm(bin, args, options) {
  child = spawn(join(bin, 'npm'), args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    process.stdout.write(chunk);
    text += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, text };
}

function readLines(args) {
  const wanted = args.length > 0 ? args : Object.keys(nodeLines);
  const unknown = wanted.find((line) => !(line in nodeLines));
  if (unknown !== undefined)
    throw new Error(`Expected lines of Node out of ${Object.keys(nodeLines).join(', ')}, got "${unknown}"`);
  return wanted;
}
