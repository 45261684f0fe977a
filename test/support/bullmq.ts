import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { BullmqJob, BullmqQueue } from '../../lib/extras/cli/bullmq/bullmq-queue.js';

/** The project of the application that uses BullMQ. A package of its own, so that few installs have BullMQ. */
export const BULLMQ_PROJECT = resolve(import.meta.dirname, '../bullmq');

/** The parts of BullMQ that the tests use. */
export interface TestBullmq {
  Queue: new (name: string, options: object) => TestQueue;
  Worker: new (name: string, run: (job: BullmqJob) => Promise<unknown>, options: object) => TestWorker;
  FlowProducer: new (options: object) => { add(flow: object): Promise<unknown>; close(): Promise<void> };
}

export interface TestQueue extends BullmqQueue {
  add(name: string, data: unknown, options?: object): Promise<BullmqJob>;
  addBulk(jobs: readonly { name: string; data: unknown; opts?: object }[]): Promise<BullmqJob[]>;
  upsertJobScheduler(id: string, repeat: object, template?: object): Promise<unknown>;
  obliterate(options: { force: boolean }): Promise<void>;
}

export interface TestWorker {
  on(event: 'failed' | 'active', listener: (...args: never[]) => void): this;
  close(force?: boolean): Promise<void>;
}

/** Installs BullMQ once per working tree. */
export async function loadBullmq(): Promise<TestBullmq> {
  if (!existsSync(join(BULLMQ_PROJECT, 'node_modules/bullmq')))
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: BULLMQ_PROJECT });
  return createRequire(join(BULLMQ_PROJECT, 'package.json'))('bullmq') as TestBullmq;
}
