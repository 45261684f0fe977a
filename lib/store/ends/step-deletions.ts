import { ascending } from '../core/safe-id.js';
import { deleteFrom, statement, type Statement } from '../core/statement.js';

// The conditions that are always true keep both servers from scanning a small table.
const DELETE_STEPS = deleteFrom('steps', "job_id = :id AND name > '' AND expires_at > 0");

export function stepDeletions(jobIds: readonly number[]): Statement[] {
  return ascending(jobIds).map((id) => statement(DELETE_STEPS, { id }));
}
