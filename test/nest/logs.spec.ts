import { ConsoleLogger, type LoggerService } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import {
  JobContext,
  QueueAdmin,
  QueueProcessor,
  QueueProducer,
  SqlQueueRunner,
  type LogFormat,
} from 'nestjs-sql-queue';
import { eventually } from '../support/eventually.js';
import { afterTest, queueModule } from './support/application.js';

declare const NEST_MAJOR: number;

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const HEADERS = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };
const SECRET = 'hunter2';
const LONG = 'x'.repeat(2_000);

class Mails {
  @QueueProcessor('mail', { retry: { attempts: 2, backoff: 0 } })
  send(job: JobContext) {
    job.logger.log('sending', { step: job.attempt });
    throw new Error(`no SMTP ${LONG}`);
  }
}

/** Runs one job with two failing attempts, and a payload that must not be logged. */
async function runJob(logger: LoggerService, logFormat: LogFormat = 'auto'): Promise<{ id: number }> {
  const module = await Test.createTestingModule({
    imports: [queueModule({ logFormat })],
    providers: [Mails],
  })
    .setLogger(logger)
    .compile();
  afterTest(() => module.close());
  await module.init();
  const job = await module.get(QueueProducer).enqueue('mail', { password: SECRET }, { headers: HEADERS });
  await module.get(SqlQueueRunner).whenIdle();
  return { id: job.id };
}

/** The lines that the logger writes to the streams of the process until the end of the test. */
function captureOutput(): string[] {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write;
    stream.write = (text: string | Uint8Array, ...rest: never[]) => {
      if (!/SqlQueue|no SMTP/.test(String(text))) return write.call(stream, text, ...rest);
      lines.push(String(text));
      return true;
    };
    afterTest(() => Promise.resolve(void (stream.write = write)));
  }
  return lines;
}

/** The Logger of nestjs-pino 4 and 5, without its request contexts. */
class PinoLogger implements LoggerService {
  private readonly contextName = 'context';
  readonly lines: Record<string, unknown>[] = [];
  private readonly logger = pino(
    { level: 'trace' },
    { write: (line: string) => void this.lines.push(JSON.parse(line) as Record<string, unknown>) },
  );

  log = (message: unknown, ...more: unknown[]) => this.call('info', message, ...more);
  warn = (message: unknown, ...more: unknown[]) => this.call('warn', message, ...more);
  error = (message: unknown, ...more: unknown[]) => this.call('error', message, ...more);
  debug = (message: unknown, ...more: unknown[]) => this.call('debug', message, ...more);

  private call(level: 'info' | 'warn' | 'error' | 'debug', message: unknown, ...more: unknown[]): void {
    const fields: Record<string, unknown> = {};
    if (more.length > 0) fields[this.contextName] = more.at(-1);
    const params = more.slice(0, -1) as never[];
    if (typeof message === 'object') this.logger[level](Object.assign(fields, message), ...params);
    else this.logger[level](fields, message as string, ...params);
  }
}

const fieldsOf = (id: number, attempt: number) => ({
  queue: 'mail',
  jobId: id,
  name: 'default',
  attempt,
  workerId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  traceId: TRACE_ID,
});

describe('parameters of log lines about jobs', () => {
  const isNest11 = NEST_MAJOR === 11;
  const versions = isNest11 ? [] : [{ flattenParams: false }, { flattenParams: true }];

  for (const options of versions) {
    it(`are fields of the JSON of the ConsoleLogger with flattenParams ${options.flattenParams}`, async () => {
      const output = captureOutput();

      const { id } = await runJob(new ConsoleLogger({ json: true, colors: false, ...options }));

      const lines = output.map((line) => JSON.parse(line) as Record<string, unknown>);
      const flat = lines.map((line) => (options.flattenParams ? line : { ...line, ...(line.params as object) }));
      const about: Record<string, unknown>[] = flat.filter((line) => 'jobId' in line && line.jobId === id);
      expect(about.filter(({ level }) => level === 'log')).toEqual([
        expect.objectContaining({ message: 'sending', step: 1, ...fieldsOf(id, 1) }),
        expect.objectContaining({ message: 'sending', step: 2, ...fieldsOf(id, 2) }),
      ]);
      expect(about.filter(({ level }) => level === 'warn')).toEqual([expect.objectContaining(fieldsOf(id, 1))]);
      const [dead, ...others] = about.filter(({ level }) => level === 'error');
      expect(others).toEqual([]);
      expect(dead).toMatchObject({ context: 'SqlQueue', ...fieldsOf(id, 2) });
      expect(dead!.message).toMatch(
        /^Job \d+ "default" of queue "mail" is dead after attempt 2 of 2: Error: no SMTP x+…$/,
      );
    });
  }

  it('are after the text of the ConsoleLogger, in the form of its version', async () => {
    const output = captureOutput();

    const { id } = await runJob(new ConsoleLogger({ colors: false }));

    const [failed] = output.filter((line) => line.includes('WARN'));
    expect(failed).toContain(isNest11 ? `queue=mail jobId=${id} name=default attempt=1 workerId=` : `jobId: ${id},`);
    expect(failed).toContain(isNest11 ? `traceId=${TRACE_ID}` : `traceId: '${TRACE_ID}'`);
  });

  it('are fields of pino, as nestjs-pino calls it', async () => {
    const logger = new PinoLogger();

    const { id } = await runJob(logger);

    const about = logger.lines.filter((line) => line.jobId === id);
    expect(about.filter(({ msg }) => msg === 'sending')).toHaveLength(2);
    expect(about.find(({ level }) => level === 40)).toMatchObject({ context: 'SqlQueue', ...fieldsOf(id, 1) });
    const dead = about.find(({ level }) => level === 50)!;
    expect(dead).toMatchObject({ ...fieldsOf(id, 2), err: { stack: expect.stringContaining('Error: no SMTP') } });
    expect(dead.msg).toMatch(/is dead after attempt 2 of 2/);
  });

  it('are after the text of any other logger, or in the form that the option chooses', async () => {
    const texts: unknown[][] = [];
    const write = (...args: unknown[]) => void texts.push(args);
    const other = { log: write, warn: write, error: write, debug: write };

    const text = await runJob(other);
    const params = await runJob(other, 'params');

    const sending = texts.filter(([message]) => String(message).startsWith('sending'));
    expect(sending[0]).toEqual([expect.stringMatching(`^sending queue=mail jobId=${text.id} .* step=1$`), 'SqlQueue']);
    expect(sending[2]).toEqual([
      'sending',
      expect.objectContaining({ step: 1, ...fieldsOf(params.id, 1) }),
      'SqlQueue',
    ]);
  });

  it('come with no payload, and with at most 500 characters of an error message', async () => {
    const logger = new PinoLogger();

    await runJob(logger);

    const text = JSON.stringify(logger.lines);
    expect(text).toContain('no SMTP');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('x'.repeat(501));
  });

  it('are lost if the logger throws, and the jobs end as with any other', async () => {
    let isClosed = false;
    const write = () => {
      if (isClosed) throw new Error('the stream of the log is closed');
    };
    const module = await Test.createTestingModule({ imports: [queueModule()], providers: [Mails] })
      .setLogger({ log: write, warn: write, error: write, debug: write })
      .compile();
    afterTest(() => module.close());
    // Later tests of this process may log before they have a logger.
    afterTest(() => Promise.resolve(void (isClosed = false)));
    await module.init();
    const [admin, producer] = [module.get(QueueAdmin), module.get(QueueProducer)];
    isClosed = true;

    const { id } = await producer.enqueue('mail', {});
    const ended = await eventually(async () => {
      const job = await admin.get(id);
      return job?.state === 'dead' && job;
    });

    expect(ended).toMatchObject({ attempt: 2, error: { message: expect.stringContaining('no SMTP') as string } });
    await module.get(SqlQueueRunner).whenIdle();
  });
});
