import { randomBytes } from 'node:crypto';

/** 53 random bits: no restart and no failover can give one out twice. */
export function randomId(): number {
  return Number(randomBytes(8).readBigUInt64BE() >> 11n) || 1;
}
