import type { BoardCall } from './board-call.js';
import { jobFor } from './allowed.js';
import { jobDetails } from './job-views.js';
import { cutAt } from '../dashboard/redactor.js';
import { contextOf } from '../dashboard/shown-error.js';

const MAX_LINE_BYTES = 2_000;

export async function readJob(call: BoardCall) {
  const job = await jobFor(call, 'read');
  return jobDetails(job, call.redactor, !(await call.access.allows('read-payload', job.queue)));
}

/** The steps of the job. Their values are as confidential as the payload. */
export async function readSteps(call: BoardCall) {
  const job = await jobFor(call, 'read');
  const isHidden = !(await call.access.allows('read-payload', job.queue));
  const { steps, next } = await call.admin.steps(job.id, call.input.page(100));
  const shown = steps.map(({ value, ...step }) => ({
    ...step,
    value: isHidden || value === null ? null : call.redactor.show(value, contextOf(job, 'result')),
  }));
  return { steps: shown, isHidden, next: next ?? null };
}

/** The relatives of the job in its flow. Those in queues that the viewer may not read are left out, but counted. */
export async function readRelatives(call: BoardCall) {
  const job = await jobFor(call, 'read');
  const { parents, children } = await call.admin.relatives(job.id);
  return {
    parents: { ...parents, jobs: await call.access.filter(parents.jobs) },
    children: { ...children, jobs: await call.access.filter(children.jobs) },
  };
}

export async function readLogs(call: BoardCall) {
  const job = await jobFor(call, 'read');
  await call.access.require('read-payload', job.queue);
  const { lines, next } = await call.admin.logs(job.id, call.input.page(100));
  const shown = (line: string) => cutAt(String(call.redactor.redact(line, contextOf(job, 'log'))), MAX_LINE_BYTES);
  return { lines: lines.map(({ number, at, line }) => ({ number, at, line: shown(line) })), next: next ?? null };
}
