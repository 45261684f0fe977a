import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueueEventName } from '../../lib/job/queue-event.js';

/** One line of what really happened, written where no fault of the database can reach it. */
export interface Entry {
  /**
   * `begin` and `end` of a handler · a `QueueEvent` · `enqueued` · a process was seen to have `died` · the first thing is
   * about to be `broken`. Of jobs with a token also: that a producer `tried` to put it in, and was told that it is
   * `enqueued`, or `refused`, or is `unsure`; or that somebody who waited has `answered` for it, with the answer as its token.
   */
  readonly kind:
    'begin' | 'end' | 'enqueued' | 'died' | 'broken' | 'tried' | 'refused' | 'unsure' | 'answered' | QueueEventName;
  /** The process. */
  readonly by: string;
  readonly job: number;
  readonly attempt: number;
  readonly token?: string;
  /** Nanoseconds of the machine's monotonic clock, which all processes share. */
  readonly at: number;
}

/** A file of its own for each process, to which it only ever appends: a killed process loses at most its last line. */
export class Journal {
  readonly #file: string;

  constructor(
    folder: string,
    private readonly by: string,
  ) {
    this.#file = join(folder, `${by}.jsonl`);
  }

  note(kind: Entry['kind'], job = 0, attempt = 0): void {
    this.#write({ kind, by: this.by, job, attempt, at: Number(process.hrtime.bigint()) });
  }

  /** Of another process, which cannot speak for itself. */
  noteFor(by: string, kind: Entry['kind']): void {
    this.#write({ kind, by, job: 0, attempt: 0, at: Number(process.hrtime.bigint()) });
  }

  noteToken(kind: 'tried' | 'enqueued' | 'refused' | 'unsure' | 'answered', token: string, job = 0): void {
    this.#write({ kind, by: this.by, job, attempt: 0, token, at: Number(process.hrtime.bigint()) });
  }

  #write(entry: Entry): void {
    // The line before may be a torn one.
    appendFileSync(this.#file, `\n${JSON.stringify(entry)}`);
  }
}

export function readJournals(folder: string): Entry[] {
  const lines = readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  return lines.flatMap(parse).sort((a, b) => a.at - b.at);
}

function parse(line: string): Entry[] {
  try {
    return [JSON.parse(line) as Entry];
  } catch {
    return []; // The end of a file, or where its process was killed.
  }
}
