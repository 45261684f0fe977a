// npm run bench [-- OPTION...]: measures every scenario with every contestant, and writes the report.
import { join } from 'node:path';

if (!process.execPath.startsWith(join(import.meta.dirname, 'node_modules'))) {
  console.error(
    `expected the Node of this package, got ${process.execPath}: run \`npm ci\` in bench, then \`npm run bench\``,
  );
  process.exit(2);
}
await import('./core/main.mjs');
