// npm run report: writes docs/benchmarks.md again from the stored results.
import { Results } from './core/results.mjs';
import { writeReport } from './report/write.mjs';

const results = await Results.read();
const { data } = results;
if (Object.keys(data.runs).length === 0) {
  console.error('No results to report: run `npm run bench` first');
  process.exit(2);
}
await results.write({ tidy: true });
console.log(`wrote ${await writeReport(data)}`);
