import { bullmq } from './bullmq.mjs';
import { graphile } from './graphile.mjs';
import { nothing } from './nothing.mjs';
import { ours } from './ours.mjs';
import { pgboss } from './pgboss.mjs';

export const contestants = [...ours, ...bullmq, ...pgboss, ...graphile, ...nothing];

export function contestantNamed(id) {
  return contestants.find((contestant) => contestant.id === id);
}
