import { QueueProcessor, type JobContext } from 'nestjs-sql-queue';
import { start } from './support/application.js';

class Handlers {
  @QueueProcessor('mail')
  send(job: JobContext) {
    return job.id;
  }

  @QueueProcessor('report', { paused: true })
  build(job: JobContext) {
    return job.id;
  }
}

const MAIL = 'mail → Handlers.send';
const REPORT = 'report → Handlers.build';

/** The lines of the boot about handlers. */
async function handlerLog(worker: Parameters<typeof start>[1]) {
  const { log } = await start({ providers: [Handlers] }, worker);
  expect(log.at('warn')).toEqual([]);
  return log.at('log').filter((line) => line.includes('→'));
}

describe('the boot log', () => {
  it('says how each handler runs, and which queue starts paused', async () => {
    expect(await handlerLog({})).toEqual([
      `${MAIL}: concurrency 10, 1 attempt, lease 30 s`,
      `${REPORT}: concurrency 10, 1 attempt, lease 30 s, paused until SqlQueueRunner.resume('report')`,
    ]);
  });

  it('says in one line that a process without a worker runs none of its handlers', async () => {
    expect(await handlerLog({ worker: false })).toEqual([
      `This process works no queue, because of \`worker: false\`. Its handlers do not run here: ${MAIL}, ${REPORT}.`,
    ]);
  });

  it.each([
    ['exclude', { exclude: ['rep*'] }, 'because of `worker.queues.exclude`'],
    ['include', { include: ['mail'] }, 'because `worker.queues.include` does not name its queue'],
  ])('says which handlers do not run here because of worker.queues.%s', async (_option, queues, why) => {
    expect(await handlerLog({ worker: { queues } })).toEqual([
      `${MAIL}: concurrency 10, 1 attempt, lease 30 s`,
      `${REPORT}: does not run here, ${why}`,
    ]);
  });

  it('says in one line that worker.queues excludes all handlers', async () => {
    expect(await handlerLog({ worker: { queues: { exclude: ['*'] } } })).toEqual([
      `This process works no queue, because of \`worker.queues.exclude\`. Its handlers do not run here: ${MAIL}, ${REPORT}.`,
    ]);
  });

  it('says that handlers wait for the start of the runner', async () => {
    const [line] = await handlerLog({ worker: { autoStart: false } });

    expect(line).toBe(`${MAIL}: concurrency 10, 1 attempt, lease 30 s, waits for SqlQueueRunner.start()`);
  });
});
