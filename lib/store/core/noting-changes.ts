import type { CommitListener } from './caller-transaction.js';
import type { SqlDatabase } from './sql-database.js';
import { relay } from './statement.js';

/** Adds the jobs that the work in a caller's transaction changes. */
export function notingChanges(database: SqlDatabase, commits: Pick<CommitListener, 'addChanged'>): SqlDatabase {
  return {
    ...database,
    holdCallerTransaction: (transaction, act) =>
      database.holdCallerTransaction(transaction, (send) =>
        act((work) =>
          send(() =>
            relay(work(), function* (step) {
              if (step.changes)
                commits.addChanged(
                  transaction,
                  step.changes.map(({ job }) => job.id),
                );
              return yield step;
            }),
          ),
        ),
      ),
  };
}
