/** The status of a check, with the facts that led to it. */
export interface HealthStatus {
  readonly status: 'up' | 'degraded' | 'down';
  readonly facts: Record<string, unknown>;
}

export const up = (facts: Record<string, unknown>): HealthStatus => ({ status: 'up', facts });

export const degraded = (facts: Record<string, unknown>): HealthStatus => ({ status: 'degraded', facts });

export const down = (facts: Record<string, unknown>): HealthStatus => ({ status: 'down', facts });
