const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };

/**
 * Calls `stop` with the signal and the exit code that goes with it, at every Ctrl-C, SIGTERM or SIGHUP.
 * npm passes a signal on to a shell in between, which ends without telling us: that counts as SIGTERM.
 */
export function onStopSignal(stop) {
  const heard = (signal) => void stop(signal, 128 + signals[signal]);
  for (const signal of Object.keys(signals)) process.on(signal, heard);

  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    heard('SIGTERM');
  }, 500);
  watch.unref();
}
