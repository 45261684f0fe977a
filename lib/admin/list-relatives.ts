import type { JobRelatives } from '../job/flows/flow-record.js';
import { JobNotFoundError } from '../job/errors.js';
import { checkJobId } from '../job/identifiers.js';
import { checkAndResolve, option, whole, type SchemaOf } from '../job/option-schema.js';
import type { AdminParts } from './admin-parts.js';

/** Which part of the relatives of a job to read. */
export interface RelativesOptions {
  /** The largest number of parents and of children, 1 to 100. Default 20. */
  limit?: number;
}

const OPTIONS = { limit: option(whole(1, 100), 20) } satisfies SchemaOf<RelativesOptions>;

export async function listRelatives(
  { store, flows }: AdminParts,
  id: number,
  given: RelativesOptions,
): Promise<JobRelatives> {
  checkJobId(id);
  const { limit } = checkAndResolve('Cannot list relatives', OPTIONS, given);
  const found = await flows.relatives(id, limit);
  // Most jobs have none, so empty lists say nothing about the job.
  const isAlone = found.parents.count + found.children.count === 0;
  if (isAlone && (await store.states([id])).length === 0) throw new JobNotFoundError(id);
  return found;
}
