import { JobNotFoundError } from '../job/errors.js';
import { checkJobId } from '../job/identifiers.js';
import { cursorOf, resolvePage, type PageOptions } from '../job/page-options.js';
import type { StepRecord } from '../store/features/steps/step-store.js';
import type { AdminParts } from './admin-parts.js';

/** A page of the steps of a job, by name. */
export interface StepPage {
  steps: StepRecord[];
  /** The `after` of the next page; undefined at the end of the list. */
  next?: string;
}

export async function listSteps({ store, steps }: AdminParts, id: number, page: PageOptions): Promise<StepPage> {
  checkJobId(id);
  const request = resolvePage('Cannot list steps', page, 'steps');
  const { limit, order } = request;
  const found = await steps.list(id, { ...request, limit: limit + 1 });
  // Most jobs have no steps, so an empty list says nothing about the job.
  if (found.length === 0 && request.after === undefined && !(await store.get(id))) throw new JobNotFoundError(id);
  const listed = found.slice(0, limit);
  return { steps: listed, ...(found.length > limit && { next: cursorOf([listed.at(-1)!.name], 'steps', order)! }) };
}
