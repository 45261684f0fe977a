import { ApiError, LIVE_URL, read } from '../api.js';
import type { Queue } from '../answers.js';

const POLL_MS = 5_000;
const FIRST_EVENT_MS = 10_000;
const LOST_MS = 6_000;
const STREAM_AGAIN_MS = 60_000;

export type Connection = 'connecting' | 'live' | 'polling' | 'lost' | 'outage';

interface Listener {
  onQueues(queues: Queue[]): void;
  onState(state: Connection): void;
}

/**
 * Receives the statistics of the queues: by a stream of the server or, if a proxy does not let it through, by requests.
 * Hidden pages do neither.
 */
export function connect({ onQueues, onState }: Listener): void {
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
    const opened = new EventSource(LIVE_URL);
    source = opened;
    expectWithin(FIRST_EVENT_MS, poll);
    opened.addEventListener('queues', ({ data }: MessageEvent<string>) => {
      clearTimeout(deadline);
      isFailing = false;
      onState('live');
      onQueues((JSON.parse(data) as { queues: Queue[] }).queues);
    });
    opened.addEventListener('outage', () => {
      clearTimeout(deadline);
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
    const once = async () => {
      polls += 1;
      if (polls * POLL_MS > STREAM_AGAIN_MS) return stream();
      try {
        const { queues } = await read<{ queues: Queue[] }>('queues');
        onState('polling');
        onQueues(queues);
      } catch (error) {
        onState(error instanceof ApiError && error.status === 503 ? 'outage' : 'lost');
      }
    };
    void once();
    polling = setInterval(() => void once(), POLL_MS);
  };

  addEventListener('visibilitychange', () => (document.hidden ? stop() : stream()));
  addEventListener('online', stream);
  addEventListener('offline', () => onState('lost'));
  stream();
}
