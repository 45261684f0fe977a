// npm run check:package: checks that the packed package is small, has only files that users load, can be published, and
// works for every way of importing it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { fail } from './build.mjs';
import { packWithReport } from './pack.mjs';

const MAX_FILES = 150;
const MAX_BYTES = 5_000_000;
const MAX_PACKED_BYTES = 1_300_000;

/** All that users load: code with types and source maps, board, schematics, guides, and files of Prometheus and Grafana. */
const KINDS = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^dist\/[\w/.-]+\.(c?js|c?js\.map|d\.c?ts)$/,
  /^dist\/page\/(board\.(html|css)|LICENSES\.txt)$/,
  /^dist\/schematics\/[\w-]+\.json$/,
  /^docs\/(guides\/|recipes\/)?[\w-]+\.md$/,
  /^prom\/[\w.-]+\.(json|yml)$/,
];

const root = resolve(import.meta.dirname, '..');
const folder = await mkdtemp(join(tmpdir(), 'nestjs-sql-queue-pack-'));
try {
  const { tarball, stage, paths, bytes, packedBytes } = await packWithReport(folder);
  console.log(`${paths.length} files, ${megabytes(packedBytes)} packed, ${megabytes(bytes)} unpacked`);
  const others = paths.filter((path) => !KINDS.some((kind) => kind.test(path)));
  if (others.length > 0) throw new Error(`expected only files that users load, got ${others.join(', ')}`);
  expectAtMost(MAX_FILES, 'files in the package', paths.length);
  expectAtMost(MAX_PACKED_BYTES, 'bytes in the tarball', packedBytes);
  expectAtMost(MAX_BYTES, 'bytes in the package', bytes);
  await expectChanges();
  await publishDry(stage);
  await check('publint', ['run', tarball, '--strict']);
  await check('attw', [tarball]);
} catch (error) {
  fail(error);
} finally {
  await rm(folder, { recursive: true, force: true });
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

function expectAtMost(limit, things, count) {
  if (count > limit) throw new Error(`expected at most ${limit} ${things}, got ${count}`);
}

/** A release without a section in the changelog would surprise its users. */
async function expectChanges() {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const headings = (await readFile(join(root, 'CHANGELOG.md'), 'utf8')).match(/^## .*$/gm);
  if (!headings.includes(`## ${version}`))
    throw new Error(`expected a heading "## ${version}" in CHANGELOG.md, got ${headings.join(', ')}`);
}

/** Publishes nothing. `--force` leaves out the question to the registry whether it has this version already. */
async function publishDry(cwd) {
  // `npm run --silent` would hide the warnings.
  const args = ['publish', '--dry-run', '--force', '--ignore-scripts', '--workspaces=false', '--loglevel=notice'];
  const { stderr } = await promisify(execFile)('npm', args, { cwd });
  const warnings = stderr.match(/^npm warn publish (?!This command requires you to be logged in).*$/gim) ?? [];
  if (warnings.length > 0) throw new Error(`expected no warnings of npm publish, got:\n${warnings.join('\n')}`);
  console.log('npm publish --dry-run: no warnings');
}

async function check(name, args) {
  const program = join(root, 'node_modules/.bin', name);
  const [code] = await once(spawn(program, args, { stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`${name} found problems`);
}
