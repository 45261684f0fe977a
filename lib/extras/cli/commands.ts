import type { Command } from './command.js';
import { cancel, promote, release, remove, replay, retry } from './commands/change-jobs.js';
import { doctor } from './commands/doctor.js';
import { enqueue } from './commands/enqueue.js';
import { errors } from './commands/errors.js';
import { explain } from './commands/explain.js';
import { flow } from './commands/flow.js';
import { flows } from './commands/flows.js';
import { groups } from './commands/groups.js';
import { history } from './commands/history.js';
import { importBullmq } from './commands/import-bullmq.js';
import { list } from './commands/list.js';
import { logs } from './commands/logs.js';
import { metrics } from './commands/metrics.js';
import { migrate } from './commands/migrate.js';
import { obliterate, pause, resume } from './commands/queues.js';
import { schedules } from './commands/schedules.js';
import { set } from './commands/set.js';
import { show } from './commands/show.js';
import { signal } from './commands/signal.js';
import { signals } from './commands/signals.js';
import { status } from './commands/status.js';
import { top } from './commands/top.js';
import { waits } from './commands/waits.js';
import { workers } from './commands/workers.js';
import type { SUMMARIES } from './summaries.js';

/** The commands on one queue: all but bench. */
export const COMMANDS: Readonly<Record<Exclude<keyof typeof SUMMARIES, 'bench'>, Command>> = {
  ...{
    status,
    top,
    history,
    errors,
    list,
    show,
    explain,
    logs,
    flow,
    flows,
    groups,
    workers,
    schedules,
    signals,
    waits,
  },
  ...{ retry, replay, cancel, promote, release, remove, pause, resume, set, obliterate, enqueue, signal },
  ...{ metrics, doctor, migrate, 'import-bullmq': importBullmq },
};
