import { allowedInMs, jobsAllowed, useAfter } from '../../../job/limits/rate.js';
import { rowChunks, type SqlValue, type Statement } from '../../core/statement.js';
import type { GroupLimits, GroupRow } from './group-row.js';
import { compareKeys } from '../../ends/wake-groups.js';

// The claim has locked these rows, so each of them exists. One statement for all of them costs less than one for each.
const UPDATE_GROUPS = `
  INSERT INTO {groups} (queue, group_key, state, turn, head_priority, head_id, active_ids, rate_until_us, rate_used)
  VALUES :rows(?, ?, ?, ?, ?, ?, ?, ?, ?)
  {on duplicate queue, group_key}
    state = {given state}, turn = {given turn}, head_priority = {given head_priority},
    head_id = {given head_id}, active_ids = {given active_ids}, rate_until_us = {given rate_until_us},
    rate_used = {given rate_used}`;

// A group whose limit is reached is examined again after this time, although no end of a job was seen.
const RECOUNT_MS = 10_000;
// A group that waits for longer is examined on the way. So a turn further ahead is from before the clock of the database was
// set back.
const MAX_BLOCK_MS = 600_000;
/** In a statement: the turn is later than a claim can have set it. */
export const IS_AHEAD_OF_CLOCK = `turn > :now + ${MAX_BLOCK_MS + 1_000}`;
// Another transaction has locked the first job of the group.
const LOCKED_RETRY_MS = 1_000;

export interface Position {
  readonly priority: number;
  readonly id: number;
}

/** A locked group during a claim. */
export interface Turn {
  readonly row: GroupRow;
  readonly limits: GroupLimits;
  readonly nowMs: number;
  /** How many jobs the limits allow now. */
  readonly room: number;
  readonly activeIds: readonly number[];
  /** The first waiting jobs, in order. */
  readonly waiting: readonly Position[];
  /** More jobs may wait than this claim has read. */
  readonly mayHaveMore: boolean;
  readonly taken: Position[];
  /** The next job cannot be taken: another transaction has locked it, or has just changed its priority or group. */
  stoppedBy: 'lock' | 'change' | undefined;
}

export function roomOf(row: GroupRow, { concurrency, rate }: GroupLimits, active: number, nowMs: number): number {
  if (Number(row.rest_until) > nowMs) return 0;
  const slots = concurrency === null ? Infinity : Math.max(0, concurrency - active);
  return rate === null ? slots : Math.min(slots, jobsAllowed(rate, rateUseOf(row), nowMs));
}

/** Gives each group its quantum in turn, until the jobs or the limits of all groups are used up. */
export function shareOut(turns: readonly Turn[], limit: number, quantum: number) {
  const chosen: { turn: Turn; position: Position }[] = [];
  const counts = turns.map(() => 0);
  for (let before = -1; chosen.length < limit && chosen.length > before;) {
    before = chosen.length;
    turns.forEach((turn, index) => {
      const from = counts[index]!;
      const share = Math.min(quantum * turn.limits.weight, limit - chosen.length, turn.room - from);
      const next = turn.waiting.slice(from, from + Math.max(0, share));
      counts[index] = from + next.length;
      for (const position of next) chosen.push({ turn, position });
    });
  }
  return chosen;
}

/** In the order of the primary key. */
export function updatesOf(queue: string, turns: readonly Turn[]): Statement[] {
  const rows = turns.map((turn) => rowAfter(queue, turn)).sort((a, b) => compareKeys(a[1] as string, b[1] as string));
  return Array.from(rowChunks(rows), (chunk) => ({ sql: UPDATE_GROUPS, values: { rows: chunk } }));
}

/** Milliseconds until the first of the groups is due that the claim blocks; Infinity: it blocks none. */
export function blockedMs(turns: readonly Turn[]): number {
  return turns.reduce((least, each) => {
    const { state, turn } = stateAfter(each);
    return state === 'blocked' ? Math.min(least, turn - each.nowMs) : least;
  }, Infinity);
}

function rowAfter(queue: string, turn: Turn): SqlValue[] {
  const { row, limits, nowMs, activeIds, taken } = turn;
  const head = taken.at(-1);
  const isAhead =
    head !== undefined &&
    (head.priority > row.head_priority ||
      (head.priority === row.head_priority && Number(head.id) > Number(row.head_id)));
  const active = [...activeIds, ...taken.map(({ id }) => Number(id))];
  const use = limits.rate === null ? undefined : useAfter(limits.rate, rateUseOf(row), nowMs, taken.length);
  const after = stateAfter(turn);
  return [
    ...[queue, row.group_key, after.state, after.turn],
    ...(isAhead ? [head.priority, Number(head.id)] : [row.head_priority, row.head_id]),
    limits.concurrency !== null ? JSON.stringify(active) : taken.length > 0 ? null : row.active_ids,
    ...[use?.untilUs ?? row.rate_until_us, use?.used ?? row.rate_used],
  ];
}

function stateAfter({ row, limits, nowMs, activeIds, waiting, mayHaveMore, taken, stoppedBy }: Turn): {
  state: GroupRow['state'];
  turn: number;
} {
  const { concurrency, rate } = limits;
  if (stoppedBy === 'lock') return { state: 'blocked', turn: nowMs + LOCKED_RETRY_MS };
  // A group that the claim did not reach keeps its place.
  const ready = { state: 'ready', turn: taken.length > 0 ? nowMs : Number(row.turn) } as const;
  if (stoppedBy === 'change') return ready;
  if (waiting.length === taken.length && !mayHaveMore) return { state: 'idle', turn: nowMs };
  const restMs = Number(row.rest_until) - nowMs;
  if (restMs > 0) return { state: 'blocked', turn: nowMs + Math.min(restMs, MAX_BLOCK_MS) };
  if (rate !== null) {
    const use = useAfter(rate, rateUseOf(row), nowMs, taken.length);
    if (jobsAllowed(rate, use, nowMs) === 0)
      return { state: 'blocked', turn: nowMs + Math.min(allowedInMs(rate, use, nowMs, 1), MAX_BLOCK_MS) };
  }
  if (concurrency !== null && activeIds.length + taken.length >= concurrency)
    return { state: 'blocked', turn: nowMs + RECOUNT_MS };
  return ready;
}

function rateUseOf({ rate_until_us, rate_used }: GroupRow) {
  return { untilUs: Number(rate_until_us), used: Number(rate_used) };
}
