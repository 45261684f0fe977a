import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

interface Step {
  run?: string;
  uses?: string;
  with?: Record<string, string>;
  'working-directory'?: string;
}

interface Job {
  steps?: Step[];
  strategy?: { matrix: Record<string, string[]> };
}

const root = resolve(import.meta.dirname, '../..');
const WORKFLOWS = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const SET_UP = '.github/actions/set-up/action.yml';

const checks = jobsOf('.github/workflows/checks.yml');
const { nodeLines, databases, oldest } = await supported();

describe('the workflows', () => {
  it('call only npm scripts that exist', () => {
    const missing = allSteps().flatMap((step) =>
      npmScriptsOf(step.run ?? '')
        .filter((script) => !(script in packageOf(step['working-directory'] ?? '.').scripts))
        .map((script) => `${step['working-directory'] ?? '.'}: ${script}`),
    );

    expect(missing).toEqual([]);
  });

  it('run each stage of .ci/run for a change', () => {
    const stages = readFileSync(join(root, '.ci/run'), 'utf8').replaceAll(/^#.*$/gm, '');
    const run = Object.values(checks).flatMap(({ steps = [] }) => steps.flatMap((step) => commandsOf(step.run ?? '')));

    expect(run).toEqual(
      expect.arrayContaining(commandsOf(stages).filter((command) => !command.includes('node-lines'))),
    );
    expect(npmScriptsOf(run.join('\n'))).toEqual(expect.arrayContaining(npmScriptsOf(stages)));
  });

  it('pin each action by the SHA of a commit, beside its version', async () => {
    const unpinned: string[] = [];
    for (const file of [...WORKFLOWS, SET_UP]) {
      const lines = (await readFile(join(root, file), 'utf8')).match(/uses: (?!\.\/).*/g) ?? [];
      unpinned.push(...lines.filter((line) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)));
    }

    expect(unpinned).toEqual([]);
  });

  it('test the lines of Node that the scripts support, from the one of the README and package.json on', () => {
    const lines = Object.keys(nodeLines).sort((a, b) => Number(a) - Number(b));

    expect(checks['node-lines']!.strategy!.matrix['node']).toEqual(lines);
    expect(stepsOf(SET_UP).find(({ uses }) => uses?.startsWith('actions/setup-node'))!.with!['node-version']).toBe(
      lines[0],
    );
    expect(packageOf('.').engines.node).toBe(`>=${lines[0]}`);
    expect(readme()).toContain(`Node ${lines[0]} and newer`);
  });

  it('test the databases that the README and the scripts name, with the oldest versions of both', () => {
    const names = Object.keys(databases);
    const histories = jobsOf('.github/workflows/nightly.yml')['histories'];

    for (const job of [checks['test'], checks['node-lines'], histories])
      expect(job!.strategy!.matrix['server']).toEqual(names);
    for (const [name, title] of Object.entries(databases)) {
      const version = oldest[name]?.join('.');
      expect(readme()).toContain(version ? `${title} ${version} and newer` : `${title} better-sqlite3`);
    }
  });
});

/** From a program of its own, because the scripts have no types. */
async function supported() {
  const script = `
    import * as supported from './scripts/supported.mjs';
    import { serverKinds } from './scripts/databases/servers.mjs';
    const oldest = Object.fromEntries(Object.entries(serverKinds).map(([name, kind]) => [name, kind.oldest]));
    console.log(JSON.stringify({ ...supported, oldest }));`;
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    env,
  });
  return JSON.parse(stdout) as {
    nodeLines: Record<string, unknown>;
    databases: Record<string, string>;
    oldest: Record<string, number[]>;
  };
}

function jobsOf(file: string): Record<string, Job> {
  return (parse(readFileSync(join(root, file), 'utf8')) as { jobs: Record<string, Job> }).jobs;
}

/** The steps of an action. */
function stepsOf(file: string): Step[] {
  return (parse(readFileSync(join(root, file), 'utf8')) as { runs: { steps: Step[] } }).runs.steps;
}

function allSteps(): Step[] {
  const jobs = WORKFLOWS.flatMap((file) => Object.values(jobsOf(file)));
  return [...jobs.flatMap(({ steps = [] }) => steps), ...stepsOf(SET_UP)];
}

/** `npm test` and `npm start` are scripts too. */
function npmScriptsOf(text: string): string[] {
  return [...text.matchAll(/\bnpm (?:run (?:-s )?([\w:-]+)|(test|start)\b)/g)].map(([, name, short]) => name ?? short!);
}

function commandsOf(text: string): string[] {
  return text
    .split(/\n|&&/)
    .map((command) =>
      command
        .replaceAll(/ --server \$\{\{.*?\}\}/g, '')
        .replace(/ --$/, '')
        .trim(),
    )
    .filter((command) => command.startsWith('npm '));
}

function packageOf(folder: string): { scripts: Record<string, string>; engines: { node: string } } {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as ReturnType<typeof packageOf>;
}

/** On one line, without the lines of its tables. */
function readme(): string {
  return readFileSync(join(root, 'README.md'), 'utf8').replaceAll(/[|\s]+/g, ' ');
}
