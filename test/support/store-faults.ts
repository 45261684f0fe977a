import { recordingDriver, type Listener } from './recording-driver.js';
import type { World } from './stores.js';

/**
 * `lost`: the connection goes away before the statement is sent. `down`: that, and the same with the next ones, so that
 * the store has to give up. `unheard`: the statement is done, and its answer lost. `deadlock`: the server has undone the
 * transaction. `lock wait`: it has undone nothing but the statement.
 */
export const FAULTS = ['lost', 'down', 'unheard', 'deadlock', 'lock wait'] as const;
export type Fault = (typeof FAULTS)[number];

/** How the statements of one step reach the server. */
export const SENDING = [
  { sent: 'one by one', multipleStatements: false },
  { sent: 'as one text where they can', multipleStatements: true },
] as const;

// These are answers of a server, after which the connection goes on.
const ANSWERED: Partial<Record<Fault, number>> = { deadlock: 1213, 'lock wait': 1205 };

const HOW_LONG_DOWN = 8;

/** A store of that world on a connection whose texts fail once armed: see faultyDriver. */
export async function openFaulty(
  world: Pick<World, 'open' | 'connect'>,
  sending: { multipleStatements: boolean },
  settings: Parameters<World['open']>[0] = {},
) {
  const { driver, arm, disarm } = faultyDriver(sending);
  const store = await world.open({ dataSource: await world.connect({ driver }), ...settings });
  return { ...store, arm, disarm };
}

/** A driver whose texts, of one statement or of several, once armed, are counted, and fail from the given one on. */
function faultyDriver({ multipleStatements }: { multipleStatements: boolean }) {
  let statements = 0;
  let armed: { fault: Fault; failAt: number } | undefined;
  const listen: Listener = async (sql, ask) => {
    if (!armed) return;
    statements++;
    const { fault, failAt } = armed;
    const last = fault === 'down' ? failAt + HOW_LONG_DOWN : failAt;
    if (statements < failAt || statements > last) return;
    if (fault === 'unheard') await ask(sql);
    if (fault === 'deadlock') await ask('ROLLBACK');
    const errno = ANSWERED[fault];
    if (errno !== undefined) throw refused(errno);
    throw Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true });
  };
  return {
    driver: recordingDriver(listen, undefined, { multipleStatements }),
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

function refused(errno: number): Error {
  return Object.assign(new Error(`Refused with ${errno}`), { errno });
}
