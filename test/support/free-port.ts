// The parts of scripts/databases/servers.mjs that this function uses.
const SERVERS = '../../scripts/databases/servers.mjs';

/** A port of this machine at which no server listens. The kernel gives it to no other test that listens at port 0. */
export async function freePort(): Promise<number> {
  const servers = (await import(SERVERS)) as { freePort(): Promise<number> };
  return servers.freePort();
}
