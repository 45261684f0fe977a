// The program of a worker process: one contestant's worker, whose handler counts every job.
import { contestantNamed } from '../contestants/index.mjs';
import { now } from '../core/clock.mjs';
import { report, serve } from './serve.mjs';

const REPORT_EVERY_MS = 20;

let worker;
let handled = 0;
let indexCount = 0;
let runs;
let startedAt;
let reporting;

serve({
  /** Works until `stop`; resolves when the contestant is ready. */
  async start({ contestant, profile, url, queues, indexes, timeClaims }) {
    runs = new Uint8Array(indexes);
    startedAt = new Float64Array(indexes);
    const { settings, program } = contestantNamed(contestant);
    const { startWorker } = await program();
    worker = await startWorker({ url, queues, settings: settings[profile], handle, timeClaims });
  },

  /** Waits for running jobs. Resolves with the number of runs and the start time of each job. */
  async stop() {
    await worker.close();
    clearTimeout(reporting);
    const claims = worker.claims;
    return { runs: runs.slice(0, indexCount), startedAt: startedAt.slice(0, indexCount), handled, claims };
  },
});

function handle({ index }) {
  runs[index]++;
  startedAt[index] = now();
  handled++;
  if (index >= indexCount) indexCount = index + 1;
  // A timer that also runs without progress would be most of an idle worker's cost.
  reporting ??= setTimeout(reportProgress, REPORT_EVERY_MS);
}

function reportProgress() {
  reporting = undefined;
  report('progress', handled);
}
