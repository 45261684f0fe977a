import type { Count, JobError } from './answers.js';

// Created once: a page formats hundreds of times and numbers, and a formatter takes much longer to create than to use.
const NUMBER = new Intl.NumberFormat('en');
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const TIME_WITH_SECONDS = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const { timeZone: ZONE } = EXACT.resolvedOptions();

/** The units of durations, the longest one first. */
export const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A duration in its largest unit, such as `1.4 s` or `38 min`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  const [unit, length] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? (['ms', 1] as const);
  const value = ms / length;
  const digits = Math.abs(value) < 10 && unit !== 'ms' ? Math.round(value * 10) / 10 : Math.round(value);
  return `${number(digits)} ${unit}`;
}

export const number = (value: number) => NUMBER.format(value);

/** At most four digits, such as `19.7k`. */
export function compact(value: number): string {
  if (value >= 100_000) return `${number(Math.round(value / 1000))}k`;
  return value >= 10_000 ? `${(value / 1000).toFixed(1)}k` : number(Math.round(value));
}

export const countOf = ({ value, atLeast }: Count) => `${number(value)}${atLeast ? '+' : ''}`;

export function percent(share: number): string {
  if (share === 0) return '0 %';
  if (share < 0.001) return '<0.1 %';
  return share < 0.1 ? `${(share * 100).toFixed(1)} %` : `${Math.round(share * 100)} %`;
}

/** The clock in the zone of the viewer, on another day with the date. */
export function clock(at: Date | number | string, withSeconds = false): string {
  const date = new Date(at);
  const time = (withSeconds ? TIME_WITH_SECONDS : TIME).format(date);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? time : `${DAY.format(date)}, ${time}`;
}

/** The whole time in the zone of the viewer and in UTC. */
export function exact(at: Date | number | string): string {
  const date = new Date(at);
  return `${EXACT.format(date)} ${ZONE}\n${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);

export const plural = (count: number, one: string) => `${number(count)} ${one}${count === 1 ? '' : 's'}`;

/** The first characters of the id of a worker, which is random. */
export const short = (worker: string) => worker.slice(0, 8);

export function rateText(rate: { limit: number; perMs: number } | null | undefined): string {
  return rate ? `${number(rate.limit)} per ${duration(rate.perMs)}` : 'no limit';
}

export const errorName = ({ code, name }: Pick<JobError, 'code' | 'name'>) => code ?? name;
