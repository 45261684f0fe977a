const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-/;

/** The trace id in the header `traceparent` of the W3C; null without a valid one. */
export function traceIdOf({ traceparent }: Readonly<Record<string, string>>): string | null {
  return TRACE_PARENT.exec(traceparent ?? '')?.[1] ?? null;
}
