import { age } from '../../../common/units.js';
import type { RelatedJobs } from '../../../job/flows/flow-record.js';
import type { JobRecord } from '../../../job/job.js';
import { traceIdOf } from '../../../job/trace-id.js';
import { jsonOf } from '../../../common/message-text.js';
import type { StepRecord } from '../../../store/features/steps/step-store.js';
import { jobId, type Command } from '../command.js';
import { CommandFailedError } from '../errors.js';
import { time } from '../output.js';

// The largest page of `admin.steps`.
const MAX_STEPS = 1_000;

export const show: Command = {
  usage: '<id> [--payload]',
  args: [1, 1],
  async run({ engine, args: [id], options, output }) {
    const job = await engine.admin.get(jobId(id!));
    if (!job) throw new CommandFailedError(`There is no job ${id}. It may have been pruned after its retention.`);
    const { payload, headers, result, ...rest } = job;
    const isFull = options.flag('payload');
    const { steps, next } = await engine.admin.steps(job.id, { limit: MAX_STEPS });
    const hasMoreSteps = next !== undefined;
    const relatives = job.flow === null ? null : await engine.admin.relatives(job.id);
    const shown = { ...rest, traceId: traceIdOf(headers), ...(isFull && { payload, headers, result }) };
    // The value of a step may be as confidential as the payload.
    const shownSteps = steps.map(({ value, ...step }) => ({ ...step, ...(isFull && { value }) }));
    output.result({ ...shown, steps: shownSteps, ...(hasMoreSteps && { hasMoreSteps }), ...relatives }, () =>
      [
        describe(shown),
        ...(relatives
          ? [...related('parent', relatives.parents, job.flow!), ...related('child', relatives.children, job.flow!)]
          : []),
        ...shownSteps.map(describeStep),
        ...(hasMoreSteps ? [`and more: admin.steps(${job.id}, { after: ${jsonOf(next)} })`] : []),
      ].join('\n'),
    );
  },
};

function related(word: string, { jobs, count, atLeast }: RelatedJobs, flow: number): string[] {
  const lines = jobs.map(({ id, queue, name, state }) => `${`${word}:`.padEnd(13)} ${id} ${queue} ${name}, ${state}`);
  const more = count - jobs.length;
  return more === 0 && !atLeast
    ? lines
    : [...lines, `${''.padEnd(13)} and ${more}${atLeast ? '+' : ''} more: nestjs-sql-queue flow ${flow}`];
}

function describe(job: Partial<JobRecord>): string {
  const { error, errors = [], schedule, ...fields } = job;
  const tick = schedule ? `${schedule.name}, tick of ${time(schedule.at)}` : null;
  const lines = Object.entries({ ...fields, schedule: tick })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${`${name}:`.padEnd(13)} ${textOf(value)}`);
  for (const { attempt, at, startedAt, worker, name, code, message } of errors) {
    const ran = startedAt ? ` after ${age(at.getTime() - startedAt.getTime())}` : '';
    const place = worker === undefined ? '' : ` on worker ${worker}`;
    lines.push(`attempt ${attempt} failed at ${time(at)}${ran}${place}: ${code ?? name}: ${message}`);
  }
  if (error)
    lines.push(
      `error:        ${error.code ? `${error.code} ` : ''}${error.stack ?? `${error.name}: ${error.message}`}`,
    );
  return lines.join('\n');
}

function describeStep({
  name,
  state,
  until,
  signalKey,
  value,
}: Omit<StepRecord, 'value'> & { value?: unknown }): string {
  const facts = [
    ...(signalKey === null ? [] : [`signal with the key ${jsonOf(signalKey)}`]),
    ...(until && (state === 'sleeping' || state === 'waiting') ? [`until ${time(until)}`] : []),
    ...(value === undefined || value === null ? [] : [textOf(value)]),
  ];
  return `step ${name}: ${[state, ...facts].join(', ')}`;
}

function textOf(value: unknown): string {
  if (value instanceof Date) return time(value);
  return typeof value === 'string' ? value : jsonOf(value);
}
