import type { Clock } from '../../common/clock.js';
import type { RunnerHealth } from '../../worker/runner-health.js';
import { down, up, type HealthStatus } from './health-status.js';

// A statement waits up to 30 s for its answer, and a poll sends several and repeats them.
const MAX_POLL_MS = 5 * 60_000;
// The random part of a pause is smaller.
const PAUSE_FACTOR = 2;

/**
 * Whether the loop of the worker goes on. Only a restart helps if it does not. An outage of the database does not count: the
 * polls go on, or wait for an answer.
 */
export function liveness(
  health: RunnerHealth,
  { maxPollAge }: { maxPollAge: number },
  clock: Pick<Clock, 'now'>,
): HealthStatus {
  const { state, lastPollAt, isPolling, maxPollPauseMs } = health;
  if (state !== 'running' || lastPollAt === null) return up({ runner: state });
  const pollAgeMs = clock.now().getTime() - lastPollAt.getTime();
  const limitMs = isPolling ? Math.max(MAX_POLL_MS, maxPollAge) : maxPollAge + PAUSE_FACTOR * maxPollPauseMs;
  const facts = { runner: state, pollAgeMs: Math.round(pollAgeMs) };
  return pollAgeMs > limitMs ? down({ ...facts, reason: 'The worker has stopped polling' }) : up(facts);
}
