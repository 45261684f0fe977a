import type { ServerResponse } from 'node:http';
import { inPresentContext } from '../../common/async-context.js';
import type { Clock } from '../../common/clock.js';
import type { BoardAccess } from './board-access.js';
import { readableQueues } from './board-queues.js';
import { eventText, type LiveQueues } from './live-queues.js';
import type { LiveStats, Viewer } from './live-stats.js';

// The browser connects again, so that guards and `can` decide anew about a viewer whose rights have ended.
const MAX_STREAM_MS = 300_000;
// A viewer that does not read must not fill the memory.
const MAX_BUFFERED_BYTES = 1_000_000;
// The rest of an ended stream has this time to reach the browser.
const END_TIMEOUT_MS = 5_000;

const OUTAGE = Buffer.from(eventText('outage', {}));

/** Sends the statistics of readable queues to one page as server-sent events, until the page closes. */
export function streamLive(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  access: BoardAccess,
  live: LiveStats,
  clock: Pick<Clock, 'sleep'>,
): void {
  const ended = new AbortController();
  const closed = new AbortController();
  const end = () => {
    if (ended.signal.aborted) return;
    ended.abort();
    live.remove(viewer);
    response.end();
    // A browser that does not read would keep the socket, and the rest in memory, for as long as it is open.
    if (!closed.signal.aborted)
      void clock.sleep(END_TIMEOUT_MS, closed.signal).then(() => closed.signal.aborted || response.destroy());
  };
  const send = (event: Buffer) => {
    if (ended.signal.aborted) return;
    if (response.writableLength > MAX_BUFFERED_BYTES) response.destroy();
    else response.write(event);
  };
  const viewer: Viewer = {
    // `can` decides about this viewer, in the context of its request.
    onQueues: inPresentContext((queues) => void sendReadable(queues)),
    onOutage: () => send(OUTAGE),
    close: end,
  };
  let isDeciding = false;
  const sendReadable = async ({ queues, eventOf }: LiveQueues) => {
    // A slow `can` skips statistics, so that its calls do not pile up.
    if (isDeciding) return;
    isDeciding = true;
    try {
      send(eventOf(await readableQueues(access, queues)));
    } catch {
      // `can` rejected. The next request of the page reports it.
      end();
    } finally {
      isDeciding = false;
    }
  };
  response.on('close', () => {
    closed.abort();
    end();
  });
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies must neither buffer nor compress the stream.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  response.write('retry: 3000\n\n');
  live.add(viewer);
  void clock.sleep(MAX_STREAM_MS, ended.signal).then(end);
}
