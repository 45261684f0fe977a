/** Aborted by Ctrl-C, and by the SIGTERM that servers are stopped with. */
export function onStopSignal(): AbortSignal {
  const stopping = new AbortController();
  // `on`, not `once`: a signal nobody listens to would kill the process in the middle of its clean end.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stopping.abort());
  return stopping.signal;
}
