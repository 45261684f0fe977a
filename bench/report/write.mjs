import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { formatted } from '../core/formatted.mjs';
import { scenarios } from '../scenarios/index.mjs';
import { barChart } from './charts.mjs';
import { documentOf } from './document.mjs';
import { figuresOf } from './figures.mjs';

const DOCS = resolve(import.meta.dirname, '../../docs');

/** Writes docs/benchmarks.md and its charts from the results. */
export async function writeReport(data) {
  await mkdir(DOCS, { recursive: true });
  for (const name of await readdir(DOCS)) {
    if (/^benchmarks-.*\.svg$/.test(name)) await rm(join(DOCS, name));
  }
  const charts = {};
  for (const scenario of scenarios.filter(({ chart }) => chart)) {
    const svg = await barChart(scenario, figuresOf(data, scenario));
    if (!svg) continue;
    charts[scenario.id] = `benchmarks-${scenario.id}.svg`;
    await writeFile(join(DOCS, charts[scenario.id]), `${svg}\n`);
  }
  const path = join(DOCS, 'benchmarks.md');
  await writeFile(path, await formatted(documentOf(data, charts), path));
  return path;
}
