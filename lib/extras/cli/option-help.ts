import type { SUMMARIES } from './summaries.js';

/** What an option takes and does, unless the command has a text of its own. */
export const OPTION_HELP: Readonly<Record<string, string>> = {
  url: 'mysql://user:password@host:3306/database, mariadb://… or sqlite:<file>; default SQL_QUEUE_URL',
  prefix: 'the prefix of the tables; default SQL_QUEUE_PREFIX, or sql_queue_',
  json: 'one JSON document instead of text',
  yes: 'change without a question',
  help: 'this text',
  queue: 'only jobs of this queue',
  state: 'only jobs in this state: waiting, scheduled, active, blocked, completed, dead or cancelled',
  name: 'only jobs with this name',
  error: 'only jobs whose last failed attempt has this code or name of an error, such as ECONNREFUSED',
  key: 'only jobs with this key',
  group: 'only jobs of this group',
  schedule: 'only jobs of this schedule',
  owner: 'only jobs that this person has, or had',
  worker: 'only jobs of the worker with this id',
  header: 'NAME=VALUE: only jobs with this header; may be repeated',
  newest: 'the newest first; default: the oldest',
  limit: 'the largest number of lines, 1 to 1000; default 20',
  after: 'the rest of the list, from the cursor that the page before has printed',
  create: 'accept a queue that does not exist yet',
  'dry-run': 'only count; change nothing',
  all: 'all jobs',
  to: 'the queue that the jobs go to; default: each keeps its own',
  rate: 'start the jobs one after another, such as 10/s or 100/m; default: all at once',
};

interface CommandHelp {
  /** The arguments of a call. */
  readonly example: string;
  readonly options?: Readonly<Record<string, string>>;
}

/** Changes of selected jobs. */
const BULK = { limit: 'end after this number of jobs, 1 or more; default: all' };

export const COMMAND_HELP: Readonly<Record<keyof typeof SUMMARIES, CommandHelp>> = {
  status: {
    example: 'status --problems',
    options: { problems: 'only the problems; the exit code is 1 if a queue is broken' },
  },
  top: { example: 'top email.send' },
  history: {
    example: 'history email.send --step hour --count 24',
    options: { step: 'minute, hour or day; default minute', count: 'the number of steps, 1 to 500; default 30' },
  },
  errors: {
    example: 'errors email.send --hours 24',
    options: {
      hours: 'the attempts of so many hours, 1 to 8784; default 1',
      limit: 'the largest number of errors, 1 to 200; default 20',
    },
  },
  list: {
    example: 'list email.send dead --error ECONNREFUSED',
    options: {
      oldest: 'the oldest first; default for the state scheduled: those that are due first',
      newest: 'the newest first; default except for the state scheduled',
    },
  },
  show: {
    example: 'show 4711 --payload',
    options: { payload: 'also the payload, the headers, the result and the values of steps' },
  },
  explain: { example: 'explain 4711' },
  logs: { example: 'logs 4711 -f', options: { follow: 'wait for further lines until the job ends' } },
  flow: { example: 'flow 12' },
  flows: {
    example: 'flows --state stuck',
    options: {
      state: 'only flows in this state: stuck, running, failed, cancelled or completed',
      queue: 'only flows with a job in this queue',
      oldest: 'the oldest first; default: the newest',
    },
  },
  groups: {
    example: 'groups sync.tenant --limit 50',
    options: {
      limit: 'the largest number of groups, 1 to 1000; default 100',
      after: 'the groups after this one, by name',
    },
  },
  workers: { example: 'workers --json' },
  schedules: { example: 'schedules run nightly --yes' },
  signals: {
    example: 'signals --unmatched --newest',
    options: { unmatched: 'only signals that no job has received, and that no job waits for' },
  },
  waits: {
    example: 'waits --name approval --key order:7',
    options: {
      name: 'only waits for a signal with this name',
      key: 'only waits for a signal with this key',
      queue: 'only jobs of this queue',
    },
  },
  retry: {
    example: 'retry --queue email.send --state dead --error ECONNREFUSED --rate 10/s',
    options: { ...BULK, completed: 'completed jobs, too' },
  },
  replay: { example: 'replay email.send --rate 10/s --dry-run', options: BULK },
  cancel: { example: 'cancel --queue email.send --state waiting --dry-run', options: BULK },
  promote: { example: 'promote 4711', options: BULK },
  release: { example: 'release 4711' },
  remove: { example: 'remove --queue email.send --state dead --limit 1000', options: BULK },
  pause: { example: 'pause email.send', options: { all: 'all queues' } },
  resume: { example: 'resume --all', options: { all: 'all queues' } },
  set: {
    example: 'set email.send concurrency=5 rate=100/1m enabled=08:00-18:00@Europe/Berlin',
    options: { reset: 'all options as in the code again, and no pause' },
  },
  obliterate: { example: 'obliterate old.queue --dry-run' },
  enqueue: {
    example: `enqueue email.send '{"to":"ann@example.com"}' --delay 5m`,
    options: {
      name: 'the name of the job; default: default',
      delay: 'due after this time, such as 30s, 5m or 1d; default: now',
      priority: '-32768 to 32767, smaller numbers run first; default 0',
      key: 'at most one job of the queue has this key at a time',
      group: 'the group of the job, such as a tenant',
    },
  },
  signal: { example: `signal approval order:7 '{"by":"ann"}'` },
  metrics: {
    example: 'metrics --listen :9464',
    options: { listen: '[host]:port to serve them on /metrics; default: print them once' },
  },
  doctor: {
    example: 'doctor --account worker',
    options: {
      account: 'the role of the account: producer, asker, worker, migrator or reader; default worker',
      blobs: 'a folder of blobs to examine, too',
    },
  },
  migrate: { example: 'migrate --print', options: { print: 'print the statements and change nothing' } },
  'import-bullmq': {
    example: 'import-bullmq email --to email.send --dry-run',
    options: {
      redis: 'the URL of Redis, such as redis://host:6379; default REDIS_URL',
      to: 'the queue that receives the jobs; default: of the same name',
      failed: 'failed jobs, too',
      'no-schedulers': 'no job schedulers',
      tz: 'the time zone of job schedulers without one; default: that of this machine',
      rename: 'OLD=NEW: another name for the jobs with this name; may be repeated',
      'bull-prefix': 'the prefix of the keys in Redis; default bull',
    },
  },
  bench: {
    example: 'bench --jobs 50000',
    options: {
      jobs: 'the number of jobs, 1000 to 1000000; default 20000',
      bytes: 'the size of each payload, 1 to 100000; default 100',
      claim: 'the claim strategy; default auto',
    },
  },
};
