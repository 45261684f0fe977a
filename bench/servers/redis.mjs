import { Redis } from 'ioredis';
import { sleep } from '../core/clock.mjs';

const VARIABLES = ['appendonly', 'appendfsync', 'save', 'maxmemory-policy', 'auto-aof-rewrite-percentage'];

export const redis = {
  off: kind('off', 'no append-only file'),
  everysec: kind('everysec', 'appendfsync everysec'),
  always: kind('always', 'appendfsync always'),
};

function kind(profile, note) {
  return {
    id: `redis-${profile}`,
    title: `Redis, ${note}`,
    script: 'redis-up.sh',
    profile,
    async open(port) {
      const client = new Redis(port, '127.0.0.1');
      client.on('error', () => {}); // The command that fails reports the error.
      const info = async (section, field) => new RegExp(`^${field}:(.*)\r$`, 'm').exec(await client.info(section))[1];
      const settings = {};
      for (const name of VARIABLES) settings[name] = (await client.config('GET', name))[1];
      return {
        version: await info('server', 'redis_version'),
        settings,
        async create() {
          await client.flushall();
          await rewritten(client, info);
          return `redis://127.0.0.1:${port}`;
        },
        drop: () => client.flushall(),
        analyze: async () => {},
        statements: async () => Number(await info('stats', 'total_commands_processed')),
        ownStatements: 1,
        close: () => client.quit(),
      };
    },
  };
}

/** Empties the append-only file of the previous run. */
async function rewritten(client, info) {
  if ((await client.config('GET', 'appendonly'))[1] !== 'yes') return;
  await client.bgrewriteaof();
  while ((await info('persistence', 'aof_rewrite_in_progress')) === '1') await sleep(20);
}
