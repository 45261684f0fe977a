/** Aborts at Ctrl-C, and at the SIGTERM that stops servers. */
export function onStopSignal(): AbortSignal {
  const stopping = new AbortController();
  // `on`, not `once`: a second signal without a listener would kill the process in the middle of its clean end.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stopping.abort());
  return stopping.signal;
}
