const signals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };

/**
 * Calls `stop` with the signal and its exit code at every Ctrl-C, SIGTERM or SIGHUP. npm forwards a signal only to the
 * shell that runs this script, so the end of that shell counts as SIGTERM.
 */
export function onStopSignal(stop) {
  const onSignal = (signal) => void stop(signal, 128 + signals[signal]);
  for (const signal of Object.keys(signals)) process.on(signal, onSignal);

  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    onSignal('SIGTERM');
  }, 500);
  watch.unref();
}
