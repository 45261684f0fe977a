const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Calls `stop` at SIGINT and SIGTERM, which then do not end the process. Returns a function that restores their effect. */
export function onStopSignal(stop: () => void): () => void {
  for (const signal of SIGNALS) process.on(signal, stop);
  return () => {
    for (const signal of SIGNALS) process.off(signal, stop);
  };
}
