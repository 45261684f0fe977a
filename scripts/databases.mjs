// npm run db:up [-- mysql mariadb] [-- --durable]: runs database servers until Ctrl-C and prints their URLs.
import { ServerRun, serverKinds } from './databases/servers.mjs';
import { onStopSignal } from './stop-signal.mjs';

const args = process.argv.slice(2);
const names = args.filter((name) => name in serverKinds);
const profile = args.includes('--durable') ? 'durable' : 'fast';
const run = await ServerRun.begin();

onStopSignal(async () => {
  await run.end();
  process.exit(0);
});

const wanted = names.length > 0 ? names : Object.keys(serverKinds);
const found = await Promise.all(wanted.map((name) => run.server(name, profile)));
for (const [i, name] of wanted.entries()) {
  const { title, variable } = serverKinds[name];
  console.log(found[i].url ? `${variable}=${found[i].url}` : `# no ${title}: ${found[i].reason}`);
}
if (found.every(({ url }) => !url)) {
  await run.end();
  process.exit(1);
}
console.log('# Ctrl-C stops them and removes their data.');
setInterval(() => {}, 2 ** 30);
