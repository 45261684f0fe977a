// BENCH_FAULT=doubled or BENCH_FAULT=lost doubles or drops one job of every bulk insert, to prove that its figure is
// void.
const FAULT = process.env.BENCH_FAULT;

export function spoiled(payloads) {
  const [first, second] = payloads;
  if (FAULT === undefined || second === undefined) return payloads;
  if (FAULT === 'doubled') return [first, ...payloads];
  if (FAULT === 'lost') return payloads.slice(1);
  throw new Error(`BENCH_FAULT: expected doubled or lost, got "${FAULT}"`);
}
