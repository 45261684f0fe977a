import { recordingDriver } from './recording-driver.js';

/**
 * `lost`: the connection goes away before the statement is sent. `down`: that, and the same with the next ones, so that
 * the store has to give up. `unheard`: the statement is done, and its answer lost.
 */
export const FAULTS = ['lost', 'down', 'unheard'] as const;
export type Fault = (typeof FAULTS)[number];

const HOW_LONG_DOWN = 8;

/** A driver whose statements, once armed, are counted, and fail from the given one on. */
export function faultyDriver() {
  let statements = 0;
  let armed: { fault: Fault; failAt: number } | undefined;
  const driver = recordingDriver(async (sql, ask) => {
    if (!armed) return;
    statements++;
    const { fault, failAt } = armed;
    const last = fault === 'down' ? failAt + HOW_LONG_DOWN : failAt;
    if (statements < failAt || statements > last) return;
    if (fault === 'unheard') await ask(sql);
    throw Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  });
  return {
    driver,
    arm: (fault: Fault, failAt: number) => {
      armed = { fault, failAt };
      statements = 0;
    },
    disarm: () => {
      armed = undefined;
      return statements;
    },
  };
}
