import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type { BullmqJob, BullmqQueue } from '../../lib/extras/cli/bullmq/bullmq-queue.js';
import { installPackages } from './install-packages.js';

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
  await installPackages(BULLMQ_PROJECT, ['--ignore-scripts']);
  return createRequire(join(BULLMQ_PROJECT, 'package.json'))('bullmq') as TestBullmq;
}
