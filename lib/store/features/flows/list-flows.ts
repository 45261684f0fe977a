import { pageSize } from '../../../common/lists.js';
import { isTurnLong } from '../../../common/turn.js';
import type { FlowFilter, FlowNode, FlowState, FlowSummary } from '../../../job/flows/flow-record.js';
import type { FinalState, JobState } from '../../../job/job-state.js';
import type { PageOrder, PagePosition, PageRequest } from '../../../job/page-options.js';
import { orderKeywordsOf } from '../../reads/candidates.js';
import { executeAll, NEXT_TURN, query, statement, type Work } from '../../core/statement.js';
import type { TableRow } from '../../tables/table-schemas.js';
import { readStates } from '../../reads/job-states.js';
import { toFinalState } from './read-flow.js';

// A page examines at most this number of flows. It may then be short, and `next` continues after them.
const MAX_EXAMINED = 500;
const BATCH_SIZE = 20;
// Further dependencies of a flow are not counted: a flow may have 100,000 jobs, and a chain as many levels.
const MAX_EDGES = 1_000;
const MAX_LEVELS = 30;
// A page ends after the batch that exceeds it.
const MAX_EDGES_OF_PAGE = 20_000;
// Of a level with more edges than are counted.
const MAX_EXAMINED_EDGES = 20_000;

const selectFlows = (order: PageOrder, hasPosition: boolean) => {
  const { beyond, way } = orderKeywordsOf(order);
  return `
  SELECT id, created_at
  FROM {flows} {by primary}
  WHERE ${hasPosition ? `id ${beyond} :id` : '1 = 1'}
  ORDER BY id ${way}
  LIMIT :limit`;
};

const LEVEL = `
  SELECT job_id, needs, queue, name, state, outcome
  FROM {edges} {by primary}
  WHERE job_id IN (:ids)
  ORDER BY job_id, needs
  LIMIT :limit`;

// A bounded part of the level, because the edge that matters may be any of them.
const REST_OF_LEVEL = `
  SELECT MAX(CASE WHEN outcome = '' THEN 1 ELSE 0 END) AS is_open,
         MAX(CASE WHEN outcome = 'dead' THEN 1 ELSE 0 END) AS has_dead,
         MAX(CASE WHEN state = 'open' AND outcome <> '' THEN 1 ELSE 0 END) AS is_stuck
  FROM (SELECT state, outcome FROM {edges} {by primary} WHERE job_id IN (:ids) LIMIT ${MAX_EXAMINED_EDGES}) examined`;

type FlowRow = Pick<TableRow<'flows'>, 'id' | 'created_at'>;
type LevelRow = Pick<TableRow<'edges'>, 'job_id' | 'needs' | 'queue' | 'name' | 'state' | 'outcome'>;
type RestRow = Readonly<Record<'is_open' | 'has_dead' | 'is_stuck', number>>;

/** The flows in the order of their ids, which is that of their creation. */
export function* listFlows(
  { after, limit, order }: PageRequest,
  filter: FlowFilter,
): Work<{ flows: FlowSummary[]; next?: PagePosition }> {
  const flows: FlowSummary[] = [];
  const size = pageSize(BATCH_SIZE);
  let last = after;
  let edges = 0;
  for (let examined = 0; examined < MAX_EXAMINED && edges <= MAX_EDGES_OF_PAGE; examined += size) {
    const rows = yield* query<FlowRow>(selectFlows(order, last !== undefined), { id: last?.[0] ?? null, limit: size });
    const counted = rows.map((row) => new CountedFlow(row));
    yield* countJobs(counted, filter.state);
    for (const flow of counted) {
      const isMatch = flow.matches(filter);
      if (isMatch && flows.length === limit) return { flows, next: last! };
      if (isMatch) flows.push(flow.summary());
      last = [flow.id];
      edges += flow.edges;
    }
    if (rows.length < size) return { flows };
  }
  return { flows, next: last! };
}

/** Reads the levels of all flows side by side, from their last jobs to their first ones, and then the states of jobs. */
function* countJobs(flows: readonly CountedFlow[], state: FlowState | undefined): Work<void> {
  for (let open = flows; open.length > 0; open = open.filter(({ level }) => level.length > 0)) {
    const results = yield* executeAll(
      open.map(({ level, edges }) => statement(LEVEL, { ids: level, limit: MAX_EDGES - edges + 1 })),
    );
    const cut: CountedFlow[] = [];
    for (const [index, flow] of open.entries()) {
      flow.addLevel(results[index]!.rows as unknown as readonly LevelRow[], state);
      if (flow.cutLevel !== undefined) cut.push(flow);
      if (isTurnLong()) yield NEXT_TURN;
    }
    const rests = yield* executeAll(cut.map(({ cutLevel }) => statement(REST_OF_LEVEL, { ids: cutLevel! })));
    for (const [index, flow] of cut.entries()) flow.addRest(rests[index]!.rows[0] as unknown as RestRow);
  }
  const states = yield* readStates(flows.flatMap((flow) => flow.unsettledIds()));
  for (const flow of flows) flow.setStates(states);
}

type CountedJob = Pick<FlowNode, 'queue' | 'name' | 'state'>;

/** A flow whose jobs are counted level by level. */
class CountedFlow {
  readonly id: number;
  readonly #createdAt: Date;
  readonly #jobs = new Map<number, CountedJob>();
  #levels = 0;
  #isOpen = false;
  #isStuck = false;
  #hasDead = false;
  #isCut = false;
  #isUnwanted = false;
  /** The jobs of the next level; empty: all have been read. */
  level: readonly number[];
  /** The level that was not read to its end. */
  cutLevel: readonly number[] | undefined;
  edges = 0;

  constructor({ id, created_at }: FlowRow) {
    this.id = Number(id);
    this.#createdAt = new Date(Number(created_at));
    this.level = [-this.id];
  }

  /** @param wanted a flow that cannot have this state needs no further read */
  addLevel(rows: readonly LevelRow[], wanted: FlowState | undefined): void {
    const next: number[] = [];
    const ids = this.level;
    for (const { job_id, needs, queue, name, state, outcome } of rows) {
      if (Number(job_id) < 0 && outcome === '') this.#isOpen = true;
      if (state === 'open' && outcome !== '') this.#isStuck = true;
      const id = Number(needs);
      if (this.#jobs.has(id)) continue;
      this.#jobs.set(id, { queue, name, state: toFinalState(outcome) ?? 'removed' });
      next.push(id);
    }
    this.edges += rows.length;
    this.#levels += 1;
    const hasMoreEdges = this.edges > MAX_EDGES;
    this.#isCut = hasMoreEdges || (this.#levels === MAX_LEVELS && next.length > 0);
    if (hasMoreEdges) this.cutLevel = ids;
    else this.#isUnwanted = wanted !== undefined && isOngoing(wanted) !== this.#isOpen;
    this.level = this.#isCut || this.#isUnwanted ? [] : next;
  }

  addRest({ is_open, has_dead, is_stuck }: RestRow): void {
    if (this.#levels === 1 && Number(is_open) === 1) this.#isOpen = true;
    if (Number(has_dead) === 1) this.#hasDead = true;
    if (Number(is_stuck) === 1) this.#isStuck = true;
  }

  /** A completed job keeps its state. Others may have been retried. */
  unsettledIds(): number[] {
    if (this.#isUnwanted) return [];
    return [...this.#jobs].filter(([, { state }]) => state !== 'completed').map(([id]) => id);
  }

  setStates(states: ReadonlyMap<number, { readonly state: JobState }>): void {
    for (const [id, job] of this.#jobs) job.state = states.get(id)?.state ?? job.state;
  }

  matches({ state, queue }: FlowFilter): boolean {
    const hasQueue = queue === undefined || [...this.#jobs.values()].some((job) => job.queue === queue);
    return hasQueue && (state === undefined || state === this.#state());
  }

  summary(): FlowSummary {
    const jobs = [...this.#jobs].sort(([a], [b]) => a - b).map(([, job]) => job);
    const counts = { ...NO_JOBS };
    for (const { state } of jobs) counts[state]++;
    const { queue = '', name = '' } = jobs[0] ?? {};
    const queues = [...new Set(jobs.map((job) => job.queue))];
    const facts = { id: this.id, queue, name, state: this.#state(), createdAt: this.#createdAt };
    return { ...facts, counts, atLeast: this.#isCut, queues };
  }

  #state(): FlowState {
    if (this.#isOpen) return this.#isStuck ? 'stuck' : 'running';
    const has = (state: FinalState) => [...this.#jobs.values()].some((job) => job.state === state);
    if (this.#hasDead || has('dead')) return 'failed';
    return has('cancelled') ? 'cancelled' : 'completed';
  }
}

const NO_JOBS: FlowSummary['counts'] = {
  ...{ waiting: 0, scheduled: 0, active: 0, blocked: 0 },
  ...{ completed: 0, dead: 0, cancelled: 0, removed: 0 },
};

const isOngoing = (state: FlowState) => state === 'running' || state === 'stuck';
