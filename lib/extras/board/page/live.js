import { LIVE_URL, read } from './api.js';

const POLL_MS = 5_000;
const FIRST_EVENT_MS = 10_000;
const LOST_MS = 6_000;
const STREAM_AGAIN_MS = 60_000;

/** @typedef {'connecting' | 'live' | 'polling' | 'lost' | 'outage'} Connection */

/**
 * Keeps the page up to date: by a stream of the server or, if a proxy does not let it through, by requests. Hidden pages
 * do neither.
 *
 * @param {(queues: any[]) => void} onQueues
 * @param {(state: Connection) => void} onState
 */
export function startLive(onQueues, onState) {
  /** @type {EventSource | undefined} */
  let source;
  /** @type {number | undefined} */
  let polling;
  /** @type {number | undefined} */
  let deadline;

  const expectWithin = (/** @type {number} */ ms, /** @type {() => void} */ otherwise) => {
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
    opened.addEventListener('queues', ({ data }) => {
      clearTimeout(deadline);
      isFailing = false;
      onState('live');
      onQueues(JSON.parse(data).queues);
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
        const { queues } = await read('queues');
        onState('polling');
        onQueues(queues);
      } catch (error) {
        onState(/** @type {any} */ (error).status === 503 ? 'outage' : 'lost');
      }
    };
    void once();
    polling = setInterval(once, POLL_MS);
  };

  addEventListener('visibilitychange', () => (document.hidden ? stop() : stream()));
  addEventListener('online', stream);
  addEventListener('offline', () => onState('lost'));
  stream();
}
