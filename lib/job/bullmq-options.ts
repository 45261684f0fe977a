// The option names of BullMQ, with the equivalent of this library. Only consulted for an unknown option.
const RETENTION = `write \`retention: { completed, dead }\` in the options of the queue`;
const KEY = `write \`key\`, with \`onConflict\` and \`keyUntil\`, in the options of enqueue()`;

const ADVICE: Readonly<Record<string, string>> = {
  attempts: `write \`retry: { attempts }\``,
  backoff: `write \`retry: { backoff }\``,
  backoffStrategy: `write \`retry: { backoff: (attempt, error) => … }\` in the options of the queue`,
  settings: `write \`retry\` and \`lease\` in the options of the queue`,
  removeOnComplete: RETENTION,
  removeOnFail: RETENTION,
  jobId: KEY,
  deduplication: KEY,
  debounce: KEY,
  limiter: `write \`rate: { limit, per }\` in the options of the queue`,
  lifo: `write \`order: 'lifo'\` in the options of the queue`,
  repeat: 'write @Schedule() on a handler, or use QueueSchedules',
  parent: 'write `producer.flow()`, or `job.fanOut()` in a handler',
  lockDuration: 'write `lease`',
  lockRenewTime: 'write `lease`; a worker renews it every third of its length or more often, at least every 20 seconds',
  stalledInterval: 'write `lease`; the jobs of a dead worker are rescued when it has expired',
  maxStalledCount: 'write `retry: { attempts }`: a run whose worker died counts as one',
  autorun: 'write `worker: { autoStart: false }` in the options of the module',
  defaultJobOptions: 'write `defaults`, which holds the options of every queue',
  redis: `there is no Redis: the queue uses the application's DataSource, or \`connection: { type: 'mysql', url }\``,
  host: `write \`connection: { type: 'mysql', host }\`, or import TypeOrmModule.forRoot()`,
  url: `write \`connection: { type: 'mysql', url }\`, or import TypeOrmModule.forRoot()`,
};

export function bullmqAdvice(name: string): string | undefined {
  return Object.hasOwn(ADVICE, name) ? ADVICE[name] : undefined;
}
