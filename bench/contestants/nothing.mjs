// What is there without any queue: a Nest application with nothing in it, and a server that nobody asks for anything.
// Not a peer of anybody's; what a queue costs while it has nothing to do is what it has more than these.

const titles = { mysql: 'MySQL', mariadb: 'MariaDB', postgres: 'PostgreSQL', 'redis-off': 'Redis, no AOF' };

export const nothing = Object.entries(titles).map(([server, title]) => ({
  id: `nothing-${server}`,
  title: `No queue: Nest by itself, ${title} by itself`,
  server,
  baseline: true,
  only: ['idle-1'],
  packages: ['@nestjs/core'],
  settings: { default: {} },
  program: () => import('./nothing-program.mjs'),
}));
