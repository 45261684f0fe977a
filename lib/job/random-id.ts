import { randomBytes } from 'node:crypto';

/** 53 random bits. Unlike a counter, a restart or failover cannot repeat an id. */
export function randomId(): number {
  return Number(randomBytes(8).readBigUInt64BE() >> 11n) || 1;
}
