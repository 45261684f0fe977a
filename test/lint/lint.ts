import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CASES, type Rule } from './cases.js';

export interface Report {
  readonly rule: string;
  readonly file: string;
  readonly message: string;
}

const RULES = Object.keys(CASES) as Rule[];
const MESSAGES: Record<Rule, string> = {
  'await-enqueue': 'is lost',
  'enqueue-with-manager': 'beside this transaction',
};

/** Writes each case into a file of the folder: `await-enqueue/invalid-0.ts`. */
async function writeCases(folder: string): Promise<void> {
  for (const rule of RULES) {
    await mkdir(join(folder, rule), { recursive: true });
    for (const kind of ['valid', 'invalid'] as const)
      for (const [index, code] of Object.values(CASES[rule][kind]).entries())
        await writeFile(join(folder, rule, `${kind}-${index}.ts`), code);
  }
}

/**
 * Declares one test for each case.
 *
 * @param lint lints the TypeScript files below `src` of a project that has the library
 */
export function describeRules(
  linter: string,
  lint: (project: string) => Promise<Report[]>,
  open: () => Promise<string>,
) {
  let reports: Report[];

  beforeAll(async () => {
    const project = await open();
    await writeCases(join(project, 'src'));
    reports = await lint(project);
  });

  describe.each(RULES)(`the rule %s in ${linter}`, (rule) => {
    const messagesOf = (name: string) =>
      reports
        .filter(({ file }) => basename(file, '.ts') === name && basename(dirname(file)) === rule)
        .filter((report) => report.rule === rule)
        .map(({ message }) => message);

    it.each(Object.keys(CASES[rule].valid).map((title, index) => [title, index] as const))('%s', (_, index) => {
      expect(messagesOf(`valid-${index}`)).toEqual([]);
    });

    it.each(Object.keys(CASES[rule].invalid).map((title, index) => [title, index] as const))('%s', (_, index) => {
      expect(messagesOf(`invalid-${index}`)).toEqual([expect.stringContaining(MESSAGES[rule])]);
    });
  });
}

/** The output of a linter, which exits with 1 if it has reports. */
export async function outputOf(script: string, args: string[], cwd: string): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  return promisify(execFile)(process.execPath, [script, ...args], { cwd, env, maxBuffer: 10_000_000 }).then(
    ({ stdout }) => stdout,
    (error: { code: number; stdout: string; stderr: string }) => {
      if (error.code !== 1) throw new Error(`expected exit code 1, got ${error.code}: ${error.stdout}${error.stderr}`);
      return error.stdout;
    },
  );
}
