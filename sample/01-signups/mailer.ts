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

/** Sends mails to the SMTP server. */
@Injectable()
export class Mailer implements OnApplicationShutdown {
  readonly #transport;

  constructor(@Inject(SMTP_URL) private readonly url: string) {
    this.#transport = createTransport(
      { url, pool: true, maxConnections: 20, connectionTimeout: 5_000 },
      { from: 'Signups <hello@signups.example>' },
    );
  }

  /** Resolves to the message id when the server has accepted the mail. */
  async send(mail: Mail): Promise<string> {
    const { messageId } = await this.#transport.sendMail(mail);
    return messageId;
  }

  /** Fails at the start if the server does not answer, so that the queue does not fill with failed mails. */
  async verify(): Promise<void> {
    await this.#transport.verify().catch((error: Error) => {
      const { host } = new URL(this.url);
      // The answer may not be SMTP, and may contain characters that are unsafe for a terminal.
      const why = error.message.replace(/[^\x20-\x7e]+/g, ' ');
      throw new SetUpError(
        `Cannot reach the mail server ${host}: ${why}\n` +
          "Set SMTP_URL to its address, or unset it to use the sample's own server, which delivers nothing.",
      );
    });
  }

  // Not in an earlier hook, because handlers may still send mails.
  onApplicationShutdown(): void {
    this.#transport.close();
  }
}

/**
 * Whether SMTP rejected the recipient or the message with 5xx. 4xx asks for a retry; other errors concern the
 * connection.
 */
export function isPermanentRejection(error: unknown): boolean {
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number };
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500;
}

/** The server's response, or the client's error if there is none. */
export function rejectionReason(error: unknown): string {
  const { response, message } = error as { response?: string; message?: string };
  return response ?? message ?? String(error);
}
