import type { JobRecord } from '../../../job/job.js';
import { jsonOf } from '../../../job/expectation.js';
import { jobId, type Command } from '../command.js';
import { CommandFailedError } from '../errors.js';
import { time } from '../output.js';

export const show: Command = {
  usage: '<id> [--payload]',
  args: [1, 1],
  options: { payload: { type: 'boolean' } },
  async run({ engine, args: [id], options, output }) {
    const job = await engine.admin.get(jobId(id!));
    if (!job) throw new CommandFailedError(`There is no job ${id}. It may have been pruned after its retention.`);
    const { payload, headers, result, ...rest } = job;
    const shown = { ...rest, ...(options.flag('payload') && { payload, headers, result }) };
    output.result(shown, () => describe(shown));
  },
};

function describe(job: Partial<JobRecord>): string {
  const { error, errors = [], ...fields } = job;
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${`${name}:`.padEnd(13)} ${textOf(value)}`);
  for (const { attempt, at, name, code, message } of errors)
    lines.push(`attempt ${attempt} failed at ${time(at)}: ${code ?? name}: ${message}`);
  if (error)
    lines.push(
      `error:        ${error.code ? `${error.code} ` : ''}${error.stack ?? `${error.name}: ${error.message}`}`,
    );
  return lines.join('\n');
}

function textOf(value: unknown): string {
  if (value instanceof Date) return time(value);
  return typeof value === 'string' ? value : jsonOf(value);
}
