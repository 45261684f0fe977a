import type { Flow, FlowJob } from '../../answers.js';

/** A node of the drawing: one job, or several alike jobs. */
export interface DrawnNode {
  /** The id of its first job. */
  readonly key: string;
  readonly jobs: readonly FlowJob[];
  /** The keys of the nodes that it needs. */
  readonly needs: readonly string[];
}

const MIN_STACK = 4;

/**
 * The nodes of the drawing. Jobs of a queue that need the same jobs become one stack, so that a flow of a thousand pages
 * stays readable. Failed jobs stay apart.
 */
export function drawnNodes(flow: Flow, isStacked: boolean): DrawnNode[] {
  const alike = new Map<string, FlowJob[]>();
  for (const job of flow.jobs) {
    const key = isStacked ? alikeKey(job) : String(job.id);
    alike.set(key, [...(alike.get(key) ?? []), job]);
  }
  const groups = [...alike.values()].flatMap((jobs) => (jobs.length >= MIN_STACK ? [jobs] : jobs.map((job) => [job])));
  const keyOf = new Map(groups.flatMap((jobs) => jobs.map((job) => [job.id, String(jobs[0]!.id)] as const)));
  return groups.map((jobs) => {
    const key = String(jobs[0]!.id);
    const needs = jobs.flatMap((job) => job.needs.flatMap(({ id }) => keyOf.get(id) ?? []));
    return { key, jobs, needs: [...new Set(needs)].filter((need) => need !== key) };
  });
}

function alikeKey({ id, queue, name, state, needs }: FlowJob): string {
  const apart = state === 'dead' || state === 'cancelled' ? id : '';
  return JSON.stringify([queue, name, needs.map((need) => need.id), apart]);
}

/** The state of a node: of a stack that of its first job which is not completed. */
export function stateOf({ jobs }: DrawnNode): string {
  return jobs.find(({ state }) => state !== 'completed')?.state ?? 'completed';
}

/** Such as `#7 pick`, or `3 × pick` of a stack. Most jobs have no name of their own. */
export function nodeTitle({ jobs }: DrawnNode): string {
  const { id, name, queue } = jobs[0]!;
  const title = name === 'default' ? queue : name;
  return jobs.length > 1 ? `${jobs.length} × ${title}` : `#${id} ${title}`;
}
