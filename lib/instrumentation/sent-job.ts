import { fitsHeaders } from '../job/job-content.js';
import type { SentJob } from '../job/instrumentation.js';
import type { NewJob } from '../job/job.js';
import { isName } from '../job/identifiers.js';

/** A job of a call as instrumentations see it. */
export class SentJobView implements SentJob {
  readonly queue: string;
  readonly name: string;
  #headers: Record<string, string> | undefined;
  readonly #job: NewJob;

  constructor(job: NewJob) {
    this.queue = job.queue;
    this.name = job.name;
    this.#job = job;
  }

  get payloadBytes(): number {
    return Buffer.byteLength(this.#job.payload);
  }

  get headers(): Record<string, string> {
    return (this.#headers ??= this.#ownHeaders());
  }

  /** The job with the headers that instrumentations have set. */
  toNewJob(): NewJob {
    if (!this.#headers) return this.#job;
    const headers = this.#ownHeaders();
    let text = this.#job.headers;
    for (const [name, value] of Object.entries(this.#headers)) {
      if (headers[name] === value || !isName(name) || typeof value !== 'string') continue;
      const longer = JSON.stringify({ ...headers, [name]: value });
      if (!fitsHeaders(longer)) continue;
      headers[name] = value;
      text = longer;
    }
    return text === this.#job.headers ? this.#job : { ...this.#job, headers: text };
  }

  #ownHeaders(): Record<string, string> {
    return this.#job.headers === null ? {} : (JSON.parse(this.#job.headers) as Record<string, string>);
  }
}
