// npm run report: writes docs/benchmarks.md again from the results, without measuring anything.
import { Results } from './core/results.mjs';
import { writeReport } from './report/write.mjs';

const results = await Results.read();
const { data } = results;
if (Object.keys(data.runs).length === 0) {
  console.error('Nothing has been measured yet: npm run bench');
  process.exit(2);
}
await results.write({ tidy: true });
console.log(`wrote ${await writeReport(data)}`);
