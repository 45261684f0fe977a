import type { ServerResponse } from 'node:http';
import type { Clock } from '../common/clock.js';
import type { BoardAccess } from './board-access.js';
import { readableQueues, type BoardQueue } from './board-queues.js';
import type { LiveStats, Viewer } from './live-stats.js';

// The browser connects again, so that guards and `can` decide anew about a viewer whose rights have ended.
const MAX_STREAM_MS = 300_000;
// A viewer that does not read must not fill the memory.
const MAX_BUFFERED_BYTES = 1_000_000;

/** Sends the statistics of readable queues to one page as server-sent events, until the page closes. */
export function streamLive(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  access: BoardAccess,
  live: LiveStats,
  clock: Pick<Clock, 'sleep'>,
): void {
  const ended = new AbortController();
  const end = () => {
    if (ended.signal.aborted) return;
    ended.abort();
    live.remove(viewer);
    response.end();
  };
  const send = (event: string, data: unknown) => {
    if (ended.signal.aborted) return;
    if (response.writableLength > MAX_BUFFERED_BYTES) {
      end();
      return;
    }
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const viewer: Viewer = {
    onQueues: (queues) => void sendReadable(queues),
    onOutage: () => send('outage', {}),
    close: end,
  };
  const sendReadable = async (queues: readonly BoardQueue[]) => {
    try {
      send('queues', { queues: await readableQueues(access, queues) });
    } catch {
      // `can` rejected. The next request of the page reports it.
      end();
    }
  };
  response.on('close', end);
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
