/** Milliseconds on a clock that all processes of this machine share and nobody sets (CLOCK_MONOTONIC). */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
