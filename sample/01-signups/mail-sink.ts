import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A mail server that delivers nothing. Like real ones it is slow and rejects some mails. */
export class MailSink {
  /** The recipients of the accepted mails, in order. */
  readonly delivered: string[] = [];
  readonly #knownAddresses = new Set<string>();
  readonly #server: SMTPServer;

  private constructor(latencyMs: number) {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      onRcptTo: ({ address }, _session, callback) => callback(this.#rejectionOf(address)),
      onData: (stream, { envelope }, callback) => {
        stream.resume();
        stream.on('end', () => {
          setTimeout(() => {
            this.delivered.push(...envelope.rcptTo.map(({ address }) => address));
            callback();
          }, latencyMs);
        });
      },
    });
    // A client that disconnects early must not end the program.
    this.#server.on('error', () => undefined);
  }

  static async start(latencyMs = 100): Promise<MailSink> {
    const sink = new MailSink(latencyMs);
    const listening = sink.#server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    return sink;
  }

  get url(): string {
    const { port } = this.#server.server.address() as AddressInfo;
    return `smtp://127.0.0.1:${port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(resolve));
  }

  #rejectionOf(address: string): Error | null {
    const domain = address.slice(address.indexOf('@') + 1);
    const isNew = !this.#knownAddresses.has(address);
    this.#knownAddresses.add(address);
    if (domain === 'gone.test') return smtpError(550, '5.1.1 No such mailbox');
    if (domain === 'full.test') return smtpError(452, '4.2.2 Mailbox full');
    if (domain === 'greylist.test' && isNew) return smtpError(450, '4.2.0 Greylisted, try again later');
    return null;
  }
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
