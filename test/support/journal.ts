import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueueEventName } from '../../lib/job/queue-event.js';

/** One entry of the true history. It is written to a file, which no database fault affects. */
export interface JournalEntry {
  /**
   * `begin` and `end` of a handler · a `QueueEvent` · `enqueued` · `died`: a process was killed · `broken`: the first
   * fault follows. For jobs with a token also: a producer `tried` to enqueue it, and the outcome was `enqueued`,
   * `refused` or `unsure`; `signalled`: the job has its signal; `answered`: a waiting producer received the result, which
   * is the token.
   */
  readonly kind:
    | 'begin'
    | 'end'
    | 'enqueued'
    | 'died'
    | 'broken'
    | 'tried'
    | 'refused'
    | 'unsure'
    | 'signalled'
    | 'answered'
    | QueueEventName;
  /** The process. */
  readonly by: string;
  readonly job: number;
  readonly attempt: number;
  readonly token?: string;
  /** The token of the job that this one may have replaced. */
  readonly replaces?: string;
  /** Nanoseconds of the monotonic clock of the machine, which all processes share. */
  readonly at: number;
}

/** An append-only file per process. A killed process loses at most its last line. */
export class Journal {
  readonly #file: string;

  constructor(
    folder: string,
    private readonly by: string,
  ) {
    this.#file = join(folder, `${by}.jsonl`);
  }

  append(kind: JournalEntry['kind'], job = 0, attempt = 0): void {
    this.#write({ kind, by: this.by, job, attempt, at: Number(process.hrtime.bigint()) });
  }

  /** Records an entry for another process that no longer can. */
  appendFor(by: string, kind: JournalEntry['kind']): void {
    this.#write({ kind, by, job: 0, attempt: 0, at: Number(process.hrtime.bigint()) });
  }

  appendToken(
    kind: 'tried' | 'enqueued' | 'refused' | 'unsure' | 'signalled' | 'answered',
    token: string,
    job = 0,
    more: Pick<JournalEntry, 'replaces'> = {},
  ): void {
    this.#write({ kind, by: this.by, job, attempt: 0, token, ...more, at: Number(process.hrtime.bigint()) });
  }

  #write(entry: JournalEntry): void {
    // The previous line may be incomplete.
    appendFileSync(this.#file, `\n${JSON.stringify(entry)}`);
  }
}

export function readJournals(folder: string): JournalEntry[] {
  const lines = readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  return lines.flatMap(parse).sort((a, b) => a.at - b.at);
}

function parse(line: string): JournalEntry[] {
  try {
    return [JSON.parse(line) as JournalEntry];
  } catch {
    return []; // An incomplete line of a killed process, or the end of the file.
  }
}
