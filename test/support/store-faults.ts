import { interceptingDriver, type StatementListener } from './intercepting-driver.js';
import type { World } from './stores.js';

/**
 * `lost`: the connection breaks before the statement is sent. `down`: that and the next connections break, so that the
 * store gives up. `unanswered`: the statement is executed, but its answer is lost. `deadlock`: the server rolls the
 * transaction back. `lock wait`: the server rolls only the statement back.
 */
export const FAULTS = ['lost', 'down', 'unanswered', 'deadlock', 'lock wait'] as const;
export type Fault = (typeof FAULTS)[number];

/** The way in which the statements of one step reach the server. */
export const SEND_MODES = [
  { sent: 'one by one', multipleStatements: false },
  { sent: 'together if possible', multipleStatements: true },
] as const;

// Errors of a server, after which the connection remains usable.
const SERVER_ERRNOS: Partial<Record<Fault, number>> = { deadlock: 1213, 'lock wait': 1205 };

const FAILURES_WHILE_DOWN = 8;

/** Opens a store whose connections fail after arm(): see faultyDriver. */
export async function openFaultyStore(
  world: Pick<World, 'open' | 'connect'>,
  sending: { multipleStatements: boolean },
  settings: Parameters<World['open']>[0] = {},
) {
  const { driver, arm, disarm } = faultyDriver(sending);
  const dataSource = await world.connect({ driver });
  const store = await world.open({ dataSource, ...settings });
  return { ...store, dataSource, arm, disarm };
}

/**
 * A driver that counts sent texts after arm(), and fails from text `failAt` on. A text has one statement or several.
 */
function faultyDriver({ multipleStatements }: { multipleStatements: boolean }) {
  let statements = 0;
  let armed: { fault: Fault; failAt: number } | undefined;
  const listen: StatementListener = async (sql, run) => {
    if (!armed) return;
    statements++;
    const { fault, failAt } = armed;
    const last = fault === 'down' ? failAt + FAILURES_WHILE_DOWN : failAt;
    if (statements < failAt || statements > last) return;
    if (fault === 'unanswered') await run(sql);
    if (fault === 'deadlock') await run('ROLLBACK');
    const errno = SERVER_ERRNOS[fault];
    if (errno !== undefined) throw serverError(errno);
    throw Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  };
  return {
    driver: interceptingDriver(listen, undefined, { multipleStatements }),
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

function serverError(errno: number): Error {
  return Object.assign(new Error(`Refused with ${errno}`), { errno });
}
