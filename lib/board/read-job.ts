import type { BoardCall } from './board-call.js';
import { notFound } from '../dashboard/error-status.js';
import { jobDetails } from './job-views.js';
import { cutAt } from '../dashboard/redactor.js';
import { contextOf } from '../dashboard/shown-error.js';

const MAX_LINE_BYTES = 2_000;

/** A job that the caller may read. */
export async function readableJob({ admin, access, input }: Pick<BoardCall, 'admin' | 'access' | 'input'>) {
  const id = input.id();
  const job = await admin.get(id);
  if (!job) throw notFound(`Job ${id}`);
  await access.require('read', job.queue);
  return job;
}

export async function readJob(call: BoardCall) {
  const job = await readableJob(call);
  return jobDetails(job, call.redactor, !(await call.access.allows('read-payload', job.queue)));
}

export async function readLogs(call: BoardCall) {
  const job = await readableJob(call);
  await call.access.require('read-payload', job.queue);
  const { lines, next } = await call.admin.logs(job.id, call.input.page(100));
  const shown = (line: string) => cutAt(String(call.redactor.redact(line, contextOf(job, 'log'))), MAX_LINE_BYTES);
  return { lines: lines.map(({ number, at, line }) => ({ number, at, line: shown(line) })), next: next ?? null };
}

export async function readFlow({ admin, access, input }: BoardCall) {
  const id = input.id();
  const flow = await admin.flow(id);
  if (!flow) throw notFound(`Flow ${id}`);
  for (const { queue } of flow.jobs) await access.require('read', queue);
  return flow;
}
