import type { CallerTransaction } from '../store/verbs/job-store.js';

/** The transaction of a call that ends an assignment. */
export interface AssignmentTransaction {
  /**
   * The entity manager or query runner of your open transaction. The job stays assigned unless that transaction commits,
   * and its events and notifications follow the commit. Until then other calls for the job wait. Use READ COMMITTED on
   * MySQL and MariaDB. Default: a transaction of the library.
   */
  readonly manager?: CallerTransaction;
}
