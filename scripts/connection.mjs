// The connection of scripts that measure a server.

/** TypeORM's options for `mysql://…` or `mariadb://…`. Prints an error and ends the process for any other URL. */
export function connectionTo(url) {
  const type = /^(mysql|mariadb):\/\/./.exec(url ?? '')?.[1];
  if (!type) {
    console.error(`expected --url mysql://user@host:port/database or mariadb://…, got ${url ?? 'none'}`);
    process.exit(2);
  }
  return { type, url: url.replace(/^mariadb/, 'mysql') };
}
