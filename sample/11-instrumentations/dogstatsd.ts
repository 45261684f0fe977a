import { createSocket } from 'node:dgram';
import type { AttemptOfJob, EndedAttempt, QueueInstrumentation } from 'nestjs-sql-queue';

/** Sends metrics to a DogStatsD agent. A lost datagram is a lost measurement and nothing else. */
export class DogStatsd implements QueueInstrumentation {
  readonly #socket = createSocket('udp4').unref();

  constructor(
    private readonly port: number,
    private readonly host = '127.0.0.1',
  ) {
    // For example if no agent listens.
    this.#socket.on('error', () => undefined);
  }

  ended({ queue, outcome, waitMs, ranMs }: EndedAttempt): void {
    const tags = `queue:${queue},outcome:${outcome}`;
    const lines = [`sql_queue.jobs.ended:1|c|#${tags}`];
    if (waitMs !== null) lines.push(`sql_queue.job.wait:${waitMs}|h|#${tags}`);
    if (ranMs !== null) lines.push(`sql_queue.job.run:${ranMs}|h|#${tags}`);
    this.#send(lines);
  }

  leaseLost({ queue }: AttemptOfJob): void {
    this.#send([`sql_queue.leases.lost:1|c|#queue:${queue}`]);
  }

  rescued({ queue }: EndedAttempt): void {
    this.#send([`sql_queue.jobs.rescued:1|c|#queue:${queue}`]);
  }

  databaseRetried(code: string): void {
    this.#send([`sql_queue.database.retries:1|c|#code:${code}`]);
  }

  #send(lines: readonly string[]): void {
    this.#socket.send(lines.join('\n'), this.port, this.host);
  }
}
