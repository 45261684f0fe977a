import type { Duration } from '../common/units.js';
import { durationOf, option } from './option-schema.js';

/** The lease of the claim of a worker. */
export const LEASE = durationOf(`a duration from '1s' to '1d'`, 1_000, 86_400_000);

/** The lease of a job that a person or another program holds. */
export const ASSIGNMENT_LEASE = durationOf('a duration of 1s or more', 1_000);
export const DEFAULT_ASSIGNMENT_LEASE: Duration = '15m';

export const HAND_OFF_OPTIONS = { lease: option(ASSIGNMENT_LEASE, DEFAULT_ASSIGNMENT_LEASE) };
