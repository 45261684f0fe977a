import { interceptingDriver, type StatementListener } from './intercepting-driver.js';
import { isLongSet } from './servers.js';
import type { World } from './stores.js';

/**
 * `lost`: the connection breaks before the statement is sent. `down`: that and the next connections break, so that the
 * store gives up. `unanswered`: the statement is executed, but its answer is lost. `deadlock`: the server rolls the
 * transaction back. `lock wait`: the server rolls only the statement back.
 */
export const FAULTS = ['lost', 'down', 'unanswered', 'deadlock', 'lock wait'] as const;
export type Fault = (typeof FAULTS)[number];

const IN_TURN = 'each kind in turn';

/**
 * The kinds for a test of many statements, which takes long. The checks of a change run it once, and each statement meets
 * one kind. `npm run test:full`, and a run of the file alone, run it once for each kind.
 */
export const CHOSEN_FAULTS: readonly (Fault | typeof IN_TURN)[] = isLongSet ? [IN_TURN] : FAULTS;
type ChosenFault = (typeof CHOSEN_FAULTS)[number];

/** Those after which the store does not know whether a COMMIT succeeded: with a next connection that works, or without. */
const COMMIT_FAULTS = ['unanswered', 'down'] as const;

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
 * A driver that counts sent texts after arm(), and fails from text `failAt` on, or never if that is below 1. A text has one
 * statement or several.
 */
function faultyDriver({ multipleStatements }: { multipleStatements: boolean }) {
  let statements = 0;
  let commits = 0;
  let armed: { chosen: ChosenFault; failAt: number } | undefined;
  let fault: Fault;
  // The same COMMIT meets the other kind if it is sent in the other way.
  const shift = Number(multipleStatements);
  const kindFor = (sql: string) =>
    sql.endsWith('COMMIT')
      ? COMMIT_FAULTS[(commits + shift) % COMMIT_FAULTS.length]!
      : FAULTS[statements % FAULTS.length]!;
  const listen: StatementListener = async (sql, run) => {
    if (!armed) return;
    statements++;
    if (sql.endsWith('COMMIT')) commits++;
    const { chosen, failAt } = armed;
    if (statements === failAt) fault = chosen === IN_TURN ? kindFor(sql) : chosen;
    const last = fault === 'down' ? failAt + FAILURES_WHILE_DOWN : failAt;
    if (failAt < 1 || statements < failAt || statements > last) return;
    if (fault === 'unanswered') await run(sql);
    if (fault === 'deadlock') await run('ROLLBACK');
    const errno = SERVER_ERRNOS[fault];
    if (errno !== undefined) throw serverError(errno);
    throw Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  };
  return {
    driver: interceptingDriver(listen, undefined, { multipleStatements }),
    arm: (chosen: ChosenFault, failAt: number) => {
      armed = { chosen, failAt };
      statements = commits = 0;
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
