// The program of a worker process: one contestant's worker, and a count of every job that its handler got.
import { contestantNamed } from '../contestants/index.mjs';
import { now } from '../core/clock.mjs';
import { report, serve } from './serve.mjs';

const REPORT_EVERY_MS = 20;

let worker;
let handled = 0;
let seen = 0;
let runs;
let startedAt;
let reporting;

serve({
  /** Works until `stop`; resolves when the contestant says that it is ready. */
  async start({ contestant, profile, url, queues, indexes, timeClaims }) {
    runs = new Uint8Array(indexes);
    startedAt = new Float64Array(indexes);
    const { settings, program } = contestantNamed(contestant);
    const { startWorker } = await program();
    worker = await startWorker({ url, queues, settings: settings[profile], handle, timeClaims });
  },

  /** Lets what runs end; then tells how often each job ran and when it began. */
  async stop() {
    await worker.close();
    clearTimeout(reporting);
    const claims = worker.claims;
    return { runs: runs.slice(0, seen), startedAt: startedAt.slice(0, seen), handled, claims };
  },
});

function handle({ index }) {
  runs[index]++;
  startedAt[index] = now();
  handled++;
  if (index >= seen) seen = index + 1;
  // A timer that goes on while there is nothing to tell would be most of what an idle worker costs.
  reporting ??= setTimeout(tell, REPORT_EVERY_MS);
}

function tell() {
  reporting = undefined;
  report('progress', handled);
}
