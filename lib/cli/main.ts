#!/usr/bin/env node
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { bench } from './bench.js';

const USAGE = `Usage: nestjs-sql-queue bench --url <url> [--jobs <n>] [--bytes <n>]

Measures the queue on a database of yours, in tables of its own (sql_queue_bench_…) that are dropped at the end,
or, where it is interrupted, by the next run.

  --url    mysql://user:password@host:3306/database, mariadb://… or sqlite:<file>
  --jobs   how many jobs to put in and to take out at a time, 1000 to 1000000 (default 20000)
  --bytes  the length of a payload, 1 to 100000 (default 100)`;

const OPTIONS = { url: { type: 'string' }, jobs: { type: 'string' }, bytes: { type: 'string' } } as const;

void main();

async function main(): Promise<void> {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    const command = positionals.join(' ');
    if (command !== 'bench') throw new Error(`expected the command "bench", got "${command}"`);
    if (!values.url) throw new Error('expected --url, got none');
    await bench({
      url: values.url,
      jobs: wholeNumber('--jobs', values.jobs ?? '20000', 1_000, 1_000_000),
      bytes: wholeNumber('--bytes', values.bytes ?? '100', 1, 100_000),
    });
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 1;
  }
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`expected ${name} to be a whole number from ${least} to ${most}, got "${text}"`);
}
