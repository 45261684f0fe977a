import type { Command } from './command.js';
import { cancel, promote, release, remove, replay, retry } from './commands/change-jobs.js';
import { enqueue } from './commands/enqueue.js';
import { list } from './commands/list.js';
import { logs } from './commands/logs.js';
import { migrate, schedules, workers } from './commands/processes.js';
import { pause, resume } from './commands/queues.js';
import { set } from './commands/set.js';
import { show } from './commands/show.js';
import { status } from './commands/status.js';
import { top } from './commands/top.js';

/** The commands that use one open queue, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  ...{ status, top, list, show, logs, workers, schedules },
  ...{ retry, replay, cancel, promote, release, remove, pause, resume, set, enqueue },
  migrate,
};
