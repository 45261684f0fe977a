// The baseline without any queue: an empty Nest application and a server without requests. It is not a peer: an idle
// queue costs the difference between its figures and these.

const titles = { mysql: 'MySQL', mariadb: 'MariaDB', postgres: 'PostgreSQL', 'redis-off': 'Redis, no AOF' };

export const nothing = Object.entries(titles).map(([server, title]) => ({
  id: `nothing-${server}`,
  title: `No queue: only Nest and ${title}`,
  server,
  baseline: true,
  only: ['idle-1'],
  packages: ['@nestjs/core'],
  settings: { default: {} },
  program: () => import('./nothing-program.mjs'),
}));
