/** A `blocked` job waits for other jobs of its flow. */
export const LIVE_STATES = ['scheduled', 'waiting', 'active', 'blocked'] as const;

export const FINAL_STATES = ['completed', 'dead', 'cancelled'] as const;

export type LiveState = (typeof LIVE_STATES)[number];
export type FinalState = (typeof FINAL_STATES)[number];
export type JobState = LiveState | FinalState;

export const JOB_STATES: readonly JobState[] = [...LIVE_STATES, ...FINAL_STATES];

export function isFinalState(state: JobState): state is FinalState {
  return (FINAL_STATES as readonly string[]).includes(state);
}
