import type { ComponentType } from 'preact';
import type { IconName } from '../parts/icons.js';
import type { Route } from '../live/route.js';
import { AuditPage } from '../pages/audit.js';
import { ErrorsPage } from '../pages/errors.js';
import { FlowPage } from '../pages/flow.js';
import { JobPage } from '../pages/job.js';
import { JobsPage } from '../pages/jobs.js';
import { OverviewPage } from '../pages/overview.js';
import { PeoplePage } from '../pages/people.js';
import { QueuePage } from '../pages/queue.js';
import { SchedulesPage } from '../pages/schedules.js';
import { TopicsPage } from '../pages/topics.js';
import { WaitsPage } from '../pages/waits.js';
import { WorkersPage } from '../pages/workers.js';

export interface PageProps {
  readonly params: Route['params'];
}

interface Page {
  readonly icon: IconName;
  readonly Content: ComponentType<PageProps>;
  /** In the side bar. */
  readonly name?: string;
  /** After `g`. */
  readonly key?: string;
  /** The entry of the side bar for a page of one thing. */
  readonly parent?: string;
  title(params: Route['params']): string;
}

export const PAGES: Readonly<Record<string, Page>> = {
  overview: { icon: 'overview', name: 'Overview', key: 'o', title: () => 'Overview', Content: OverviewPage },
  jobs: {
    ...{ icon: 'jobs', name: 'Jobs', key: 'j', Content: JobsPage },
    title: ({ queue }) => (queue ? `Jobs of ${queue}` : 'Jobs'),
  },
  errors: {
    ...{ icon: 'dead', name: 'Errors', key: 'e', Content: ErrorsPage },
    title: ({ queue }) => (queue ? `Errors of ${queue}` : 'Errors'),
  },
  flow: {
    ...{ icon: 'flow', name: 'Flows', key: 'f', Content: FlowPage },
    title: ({ id }) => (id ? `Flow ${id}` : 'Flows'),
  },
  waits: { icon: 'signal', name: 'Waits', key: 'i', title: () => 'Waits', Content: WaitsPage },
  schedules: { icon: 'schedules', name: 'Schedules', key: 's', title: () => 'Schedules', Content: SchedulesPage },
  workers: {
    ...{ icon: 'workers', name: 'Workers', key: 'w', Content: WorkersPage },
    title: ({ queue }) => (queue ? `Workers of ${queue}` : 'Workers'),
  },
  people: { icon: 'people', name: 'People', key: 'p', title: () => 'People', Content: PeoplePage },
  topics: { icon: 'topics', name: 'Topics', key: 't', title: () => 'Topics', Content: TopicsPage },
  audit: {
    ...{ icon: 'audit', name: 'Audit', key: 'a', Content: AuditPage },
    title: ({ queue }) => (queue ? `Audit of ${queue}` : 'Audit'),
  },
  queue: { icon: 'queues', parent: 'overview', title: ({ queue }) => `Queue ${queue}`, Content: QueuePage },
  job: { icon: 'jobs', parent: 'jobs', title: ({ id }) => `Job ${id}`, Content: JobPage },
};

export const pageOf = ({ page }: Route): Page => (Object.hasOwn(PAGES, page) ? PAGES[page]! : PAGES['overview']!);

/** The entry of the side bar that is current. */
export function entryOf(route: Route): string {
  return pageOf(route).parent ?? (Object.hasOwn(PAGES, route.page) ? route.page : 'overview');
}

/** The pages of the side bar: those of every day, and those of some teams. */
export const ENTRIES = Object.entries(PAGES).filter(([, { name }]) => name !== undefined);
export const MAIN = 7;
