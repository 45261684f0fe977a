/** In the order of the bar. */
export const FLOW_JOB_STATES = [
  ...(['completed', 'active', 'waiting', 'scheduled'] as const),
  ...(['blocked', 'cancelled', 'removed', 'dead'] as const),
];

/** The jobs of a flow by their states. A text beside it has the numbers. */
export function StackBar({ counts }: { counts: Readonly<Record<string, number>> }) {
  return (
    <span class="stack-bar" aria-hidden="true">
      {FLOW_JOB_STATES.filter((state) => counts[state]).map((state) => (
        <i key={state} class={`b-${state}`} style={{ flexGrow: counts[state] }} />
      ))}
    </span>
  );
}
