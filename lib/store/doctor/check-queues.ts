import { isPausedEverywhere } from '../../job/settings/enabled.js';
import { sampleQueues } from '../features/stats/sample-queues.js';
import type { StatsSample } from '../features/stats/stats-store.js';
import { readService } from '../features/queues/read-service.js';
import { note, ok, problem, type Check, type Verdict } from './check.js';

type Sample = StatsSample['queues'][number];

const MAX_QUEUES = 20;
const MAX_EXAMINED = 200;

/** Queues with due jobs that no worker serves. */
export const checkQueues: Check = {
  name: 'queues',
  async run({ database, dialect }) {
    // Not the shared sample: an account that only reads cannot take it.
    const { queues } = await database.runIdempotent(() => sampleQueues(dialect));
    const due = queues.filter(({ waiting, nextDueInMs }) => waiting.value > 0 || nextDueInMs === 0);
    const lacking = due.filter((one) => !isPausedEverywhere(one) && one.workers === 0).map(({ queue }) => queue);
    const examined = lacking.slice(0, MAX_EXAMINED);
    // People or other programs may take the jobs.
    const { unserved } = await database.runIdempotent(() => readService(examined));
    const consumed = new Set(examined.filter((queue) => !unserved.includes(queue)));
    const verdicts = due.filter(({ queue }) => !consumed.has(queue)).flatMap(verdictOn);
    const others = verdicts.splice(MAX_QUEUES);
    if (others.length > 0) {
      const report = others.some(({ level }) => level === 'problem') ? problem : note;
      verdicts.push(report(`${others.length} further queues`, 'Run `nestjs-sql-queue status`.'));
    }
    return verdicts.length > 0 ? verdicts : [ok(`each of ${queues.length} queues with due jobs has a worker`)];
  },
};

function verdictOn(sample: Sample): Verdict[] {
  const { queue, paused, waiting, oldestWaitingMs, workers } = sample;
  const jobs = `${waiting.value}${waiting.atLeast ? ' or more' : ''} jobs wait`;
  const age = oldestWaitingMs === null ? '' : `, the oldest for ${Math.floor(oldestWaitingMs / 1_000)} s`;
  if (paused)
    return [note(`${queue} is paused: ${jobs}${age}`, `\`nestjs-sql-queue resume ${queue}\` ends the pause.`)];
  if (isPausedEverywhere(sample)) {
    const wayOut = `\`nestjs-sql-queue set ${queue} enabled=true\` lets it run jobs.`;
    return [note(`${queue} has \`enabled: false\`: ${jobs}${age}`, wayOut)];
  }
  if (workers > 0) return [];
  const wayOut =
    'Start a process with a handler for this queue. A worker counts if it was seen within the last minute.';
  return [problem(`${queue} has no worker: ${jobs}${age}`, wayOut)];
}
