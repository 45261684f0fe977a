import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { installLibrary } from '../support/built-library.js';
import { describeRules, outputOf, type Report } from './lint.js';

const OXLINT = resolve(import.meta.dirname, '../../node_modules/oxlint/bin/oxlint');

let project: string;

describeRules('oxlint', lint, async () => {
  project = await mkdtemp(join(tmpdir(), 'sql-queue-oxlint-'));
  await installLibrary(join(project, 'node_modules/nestjs-sql-queue'));
  return project;
});

afterAll(() => rm(project, { recursive: true, force: true }));

async function lint(): Promise<Report[]> {
  const config = {
    categories: { correctness: 'off' },
    jsPlugins: ['nestjs-sql-queue/eslint-plugin'],
    rules: { 'nestjs-sql-queue/await-enqueue': 'error', 'nestjs-sql-queue/enqueue-with-manager': 'error' },
  };
  await writeFile(join(project, '.oxlintrc.json'), JSON.stringify(config));
  const output = await outputOf(OXLINT, ['--format', 'json', 'src'], project);
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { message: string; code: string; filename: string }[];
  };
  return diagnostics.map(({ message, code, filename }) => ({
    rule: /^nestjs-sql-queue\((.+)\)$/.exec(code)?.[1] ?? code,
    file: filename,
    message,
  }));
}
