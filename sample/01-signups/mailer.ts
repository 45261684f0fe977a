import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { SetUpError } from './program/set-up-error.js';

export const SMTP_URL = Symbol('SMTP_URL');

export interface Mail {
  to: { address: string; name: string };
  subject: string;
  text: string;
  messageId: string;
}

/** Hands mails to the SMTP server. */
@Injectable()
export class Mailer implements OnApplicationShutdown {
  readonly #transport;

  constructor(@Inject(SMTP_URL) private readonly url: string) {
    this.#transport = createTransport(
      { url, pool: true, maxConnections: 20, connectionTimeout: 5_000 },
      { from: 'Signups <hello@signups.example>' },
    );
  }

  /** Resolves to the id of the message once the server has taken it. */
  async send(mail: Mail): Promise<string> {
    const { messageId } = await this.#transport.sendMail(mail);
    return messageId;
  }

  /** Rather no start than a queue full of mails that no server takes. */
  async verify(): Promise<void> {
    await this.#transport.verify().catch((error: Error) => {
      const { host } = new URL(this.url);
      // Whatever answered may have said something that is not SMTP, nor fit for a terminal.
      const why = error.message.replace(/[^\x20-\x7e]+/g, ' ');
      throw new SetUpError(
        `Cannot reach the mail server ${host}: ${why}\n` +
          'SMTP_URL says where it is; without SMTP_URL the sample starts one that only pretends.',
      );
    });
  }

  // Not earlier: until here mails may be on their way.
  onApplicationShutdown(): void {
    this.#transport.close();
  }
}

/** SMTP's 5xx about a recipient or a message; 4xx means later, and all else is about the connection. */
export function isRefusedForGood(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}

/** The server's own words, where it has said any. */
export function whyNotSent(error: unknown): string {
  const { response, message } = error as { response?: string; message?: string };
  return response ?? message ?? String(error);
}
