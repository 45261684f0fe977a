import { failureOf, isForbidden, LIVE_URL, read, type ReadFailure } from '../api.js';
import type { Queue } from '../answers.js';

const POLL_MS = 5_000;
const FIRST_EVENT_MS = 10_000;
const LOST_MS = 6_000;
const STREAM_AGAIN_MS = 60_000;
// An event may be late by a slow read of the server.
const LATE_FACTOR = 3;

/** `lost`: the server does not answer. `failed`: its answer is another failure. */
export type Connection = 'connecting' | 'live' | 'polling' | 'lost' | 'outage' | 'refused' | 'failed';

export interface Statistics {
  readonly queues: Queue[];
  /** The viewer has no right to read some of the queues. */
  readonly isPartial: boolean;
}

interface Listener {
  onStatistics(statistics: Statistics): void;
  /** @param failure the text of an answer without statistics */
  onState(state: Connection, failure?: string): void;
}

/**
 * Receives the statistics of the queues: by a stream of the server or, if a proxy does not let it through, by requests.
 * Hidden pages do neither.
 */
export function connect({ onStatistics, onState }: Listener): void {
  let source: EventSource | undefined;
  let polling: ReturnType<typeof setInterval> | undefined;
  let deadline: ReturnType<typeof setTimeout> | undefined;

  const expectWithin = (ms: number, otherwise: () => void) => {
    clearTimeout(deadline);
    deadline = setTimeout(otherwise, ms);
  };
  const stop = () => {
    source?.close();
    clearInterval(polling);
    clearTimeout(deadline);
    source = undefined;
  };
  const stream = () => {
    stop();
    let isFailing = false;
    let lateMs = FIRST_EVENT_MS;
    const opened = new EventSource(LIVE_URL);
    source = opened;
    // A dead connection has no error, and a read of the server may hang.
    expectWithin(lateMs, poll);
    opened.addEventListener('queues', ({ data }: MessageEvent<string>) => {
      const { refreshMs, ...statistics } = JSON.parse(data) as Statistics & { refreshMs: number };
      lateMs = FIRST_EVENT_MS + LATE_FACTOR * refreshMs;
      expectWithin(lateMs, poll);
      isFailing = false;
      onState('live');
      onStatistics(statistics);
    });
    opened.addEventListener('outage', () => {
      expectWithin(lateMs, poll);
      onState('outage');
    });
    // The browser connects again, unless the server refuses. The server ends each stream after some minutes. Each failed
    // try is an error, so only the first one starts the time.
    opened.addEventListener('error', () => {
      if (!isFailing) expectWithin(LOST_MS, poll);
      isFailing = true;
    });
  };
  const poll = () => {
    stop();
    let polls = 0;
    let isReading = false;
    const once = async () => {
      polls += 1;
      if (polls * POLL_MS > STREAM_AGAIN_MS) return stream();
      // A read that hangs must not be repeated beside itself.
      if (isReading) return onState('lost');
      isReading = true;
      try {
        const statistics = await read<Statistics>('queues');
        onState('polling');
        onStatistics(statistics);
      } catch (error) {
        const failure = failureOf(error);
        onState(stateOf(failure), failure.text);
      } finally {
        isReading = false;
      }
    };
    void once();
    polling = setInterval(() => void once(), POLL_MS);
  };

  addEventListener('visibilitychange', () => (document.hidden ? stop() : stream()));
  addEventListener('online', () => document.hidden || stream());
  addEventListener('offline', () => onState('lost'));
  stream();
}

function stateOf(failure: ReadFailure): Connection {
  if (isForbidden(failure)) return 'refused';
  if (failure.status === 503) return 'outage';
  return failure.status === 0 ? 'lost' : 'failed';
}
