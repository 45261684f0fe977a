import { systemClock } from '../../../common/clock.js';
import type { LogLine } from '../../../store/admin/admin-store.js';
import type { Engine } from '../../../engine/engine.js';
import { jobId, type Command } from '../command.js';
import { CommandFailedError } from '../errors.js';
import { time } from '../output.js';

const FOLLOW_PAUSE_MS = 1_000;

export const logs: Command = {
  usage: '<id> [-f, --follow]',
  args: [1, 1],
  async run({ engine, args: [text], options, output }) {
    const id = jobId(text!);
    let after: string | undefined;
    let last = 0;
    for (;;) {
      // Before the lines: the last lines of a finished job are stored already.
      const job = await engine.admin.get(id);
      if (!job) throw new CommandFailedError(`There is no job ${id}. It may have been pruned after its retention.`);
      const page = await readLogs(engine, id, after);
      const lines = page.lines.filter(({ number }) => number > last);
      after = page.after;
      last = lines.at(-1)?.number ?? last;
      if (!options.flag('follow')) {
        output.result(lines, () => lines.map(lineOf).join('\n') || 'No log lines.');
        return;
      }
      for (const line of lines) output.item(line, () => lineOf(line));
      if (job.finishedAt) return;
      await systemClock.sleep(FOLLOW_PAUSE_MS);
    }
  },
};

/** All lines from a page on, and that page of the last ones, which may get further lines. */
async function readLogs({ admin }: Engine, id: number, from: string | undefined) {
  const lines: LogLine[] = [];
  for (let after = from; ;) {
    const page = await admin.logs(id, { limit: 1_000, after });
    lines.push(...page.lines);
    if (!page.next) return { lines, after };
    after = page.next;
  }
}

function lineOf({ at, line }: LogLine): string {
  return `${time(at)}  ${line}`;
}
