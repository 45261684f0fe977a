import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installLibrary } from '../support/built-library.js';
import { installPackages } from '../support/install-packages.js';
import { describeRules, outputOf, type Report } from './lint.js';

const folder = import.meta.dirname;
const projects: string[] = [];

afterAll(async () => {
  for (const project of projects) await rm(project, { recursive: true, force: true });
});

describeRules('ESLint 9', (project) => lint(project, 'eslint-9', 'eslint.config.mjs'), open);

describeRules(
  'ESLint 10, with a configuration in CommonJS',
  (project) => lint(project, 'eslint-10', 'eslint.config.cjs'),
  open,
);

const CONFIGS = {
  'eslint.config.mjs': `
    import sqlQueue from 'nestjs-sql-queue/eslint-plugin';
    import parser from '@typescript-eslint/parser';
    export default [{ files: ['**/*.ts'], languageOptions: { parser } }, sqlQueue.configs.recommended];`,
  'eslint.config.cjs': `
    const { configs } = require('nestjs-sql-queue/eslint-plugin');
    const parser = require('@typescript-eslint/parser');
    module.exports = [{ files: ['**/*.ts'], languageOptions: { parser } }, configs.recommended];`,
};

async function open(): Promise<string> {
  await installPackages(folder, ['--ignore-scripts']);
  const project = await mkdtemp(join(tmpdir(), 'sql-queue-eslint-'));
  projects.push(project);
  await installLibrary(join(project, 'node_modules/nestjs-sql-queue'));
  for (const name of ['@typescript-eslint', 'typescript'])
    await symlink(join(folder, 'node_modules', name), join(project, 'node_modules', name), 'dir');
  return project;
}

async function lint(project: string, linter: string, config: keyof typeof CONFIGS): Promise<Report[]> {
  await writeFile(join(project, config), CONFIGS[config]);
  const script = join(folder, 'node_modules', linter, 'bin/eslint.js');
  const output = await outputOf(script, ['--format', 'json', 'src'], project);
  const files = JSON.parse(output) as { filePath: string; messages: { ruleId: string | null; message: string }[] }[];
  return files.flatMap(({ filePath, messages }) =>
    messages.map(({ ruleId, message }) => ({
      rule: ruleId?.replace(/^nestjs-sql-queue\//, '') ?? '',
      file: filePath,
      message,
    })),
  );
}
