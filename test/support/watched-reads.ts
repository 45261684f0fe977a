import { interceptingDriver, statementsOf } from './intercepting-driver.js';
import type { World } from './stores.js';

interface Plan {
  table: string | null;
  type: string | null;
  key: string | null;
  Extra: string | null;
}

/** Returns a store whose reads are explained, and the count of the rows they read. */
export async function watched(world: World, reading: RegExp) {
  const plans: Plan[] = [];
  let read = 0;
  const driver = interceptingDriver(async (text, ask) => {
    for (const sql of statementsOf(text).filter((each) => /^\s*(SELECT|WITH)/.test(each) && reading.test(each))) {
      plans.push(...(await ask<Plan>(`EXPLAIN FORMAT = TRADITIONAL ${sql}`)));
      const before = await rowsRead(ask);
      await ask(sql);
      read += (await rowsRead(ask)) - before;
    }
  });
  const store = await world.open({ dataSource: await world.connect({ driver }) });
  // Statements of opening a store do not count.
  plans.length = read = 0;
  return { plans, reads: () => read, store };
}

/** Returns the number of rows that the server has read for this connection. */
async function rowsRead(ask: <Row>(text: string) => Promise<readonly Row[]>): Promise<number> {
  const rows = await ask<{ Value: string }>(`SHOW SESSION STATUS LIKE 'Handler_read_%'`);
  return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
}
