export { SqlQueueHealthIndicator } from './health-indicator.js';
export type { LivenessOptions, ProblemsOptions, ReadinessOptions } from './health-options.js';
export { getHealthIndicatorToken, SqlQueueTerminusModule } from './terminus.module.js';
