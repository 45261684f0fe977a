/** Milliseconds on CLOCK_MONOTONIC, which all processes of this machine share and which is never set. */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
