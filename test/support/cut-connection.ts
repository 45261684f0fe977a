import type { World } from './engines.js';

/** Kills one of the connections to the database of the test, as a network or an administrator could. */
export async function cutOneConnection({ sql }: Pick<World, 'sql'>): Promise<void> {
  const all = await sql<{ id: number }>(
    'SELECT ID AS id FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()',
  );
  const one = all[Math.floor(Math.random() * all.length)];
  // The connection may have ended in the meantime.
  if (one) await sql(`KILL ${Number(one.id)}`).catch(() => undefined);
}
