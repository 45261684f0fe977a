#!/usr/bin/env node
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { CLAIM_STRATEGIES, type ClaimStrategy } from '../job/claim-strategy.js';
import { bench } from './bench.js';

const USAGE = `Usage: nestjs-sql-queue bench --url <url> [--jobs <n>] [--bytes <n>] [--claim <strategy>]

Measures the queue on your database, in separate tables (sql_queue_bench_…). It drops them at the end. If it is
interrupted, the next run drops them.

  --url    mysql://user:password@host:3306/database, mariadb://… or sqlite:<file>
  --jobs   number of jobs per measurement, 1000 to 1000000 (default 20000)
  --bytes  length of a payload in bytes, 1 to 100000 (default 100)
  --claim  strategy of claiming: auto, ${CLAIM_STRATEGIES.join(', ')} (default auto)`;

const text = { type: 'string' } as const;
const OPTIONS = { url: text, jobs: text, bytes: text, claim: text };

void main();

async function main(): Promise<void> {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    const command = positionals.join(' ');
    if (command !== 'bench') throw new Error(`expected the command "bench", got "${command}"`);
    if (!values.url) throw new Error('expected --url, got none');
    const claim = values.claim ?? 'auto';
    if (claim !== 'auto' && !isStrategy(claim)) throw new Error(`expected --claim to be a strategy, got "${claim}"`);
    await bench({
      claim,
      url: values.url,
      jobs: wholeNumber('--jobs', values.jobs ?? '20000', 1_000, 1_000_000),
      bytes: wholeNumber('--bytes', values.bytes ?? '100', 1, 100_000),
    });
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 1;
  }
}

function isStrategy(text: string): text is ClaimStrategy {
  return (CLAIM_STRATEGIES as readonly string[]).includes(text);
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`expected ${name} to be a whole number from ${min} to ${max}, got "${text}"`);
}
