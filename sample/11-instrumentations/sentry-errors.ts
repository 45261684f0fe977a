import * as Sentry from '@sentry/node';
import type { EndedRun, HandlerRun, QueueInstrumentation } from 'nestjs-sql-queue';

/** Reports the errors of jobs that are not retried, with the breadcrumbs of their handler. */
export class SentryErrors implements QueueInstrumentation {
  run({ queue, jobs }: HandlerRun, next: () => Promise<readonly EndedRun[]>): Promise<void> {
    // Each run has breadcrumbs of its own, although many run at once.
    return Sentry.withIsolationScope(async (scope) => {
      scope.setTag('queue', queue);
      scope.addBreadcrumb({ category: 'queue', message: `${jobs.length} job(s) of ${queue} started` });
      const ends = await next();
      ends.forEach(({ outcome, thrown }, index) => {
        const { id, name, attempt } = jobs[index]!;
        // The payload may have personal data, so it is left out.
        if (outcome === 'dead') Sentry.captureException(thrown, { extra: { id, name, attempt } });
      });
    });
  }
}
