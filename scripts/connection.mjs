// How the scripts that measure something on a server reach it.

/** What TypeORM needs to connect to `mysql://…` or `mariadb://…`; without such a URL it says so and ends the process. */
export function connectionTo(url) {
  const type = /^(mysql|mariadb):\/\/./.exec(url ?? '')?.[1];
  if (!type) {
    console.error('expected --url mysql://user@host:port/database, or mariadb://…');
    process.exit(2);
  }
  return { type, url: url.replace(/^mariadb/, 'mysql') };
}
