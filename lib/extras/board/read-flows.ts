import type { FlowFilter } from '../../job/flows/flow-record.js';
import { filterAsync } from './board-access.js';
import type { BoardCall } from './board-call.js';

/** The flows of which the viewer may read all queues. */
export async function readFlows({ admin, access, input }: BoardCall) {
  const filter = input.given('state', 'queue') as FlowFilter;
  if (filter.queue !== undefined) await access.require('read', filter.queue);
  const { flows, next } = await admin.flows(filter, { order: 'newest', ...input.page(20) });
  const readable = await filterAsync(flows, async ({ queues }) => {
    const answers = await Promise.all(queues.map((one) => access.allows('read', one)));
    return answers.every(Boolean);
  });
  return { flows: readable, next: next ?? null };
}

/** The waits for signals of jobs in queues that the viewer may read. */
export async function readWaits({ admin, access, input }: BoardCall) {
  const filter = input.given('name', 'key', 'queue');
  if (filter.queue !== undefined) await access.require('read', filter.queue);
  const { limit = 50, after } = input.page();
  const { waits, next } = await admin.waits(filter, { limit, after });
  return { waits: await access.filter(waits), next: next ?? null };
}

/** The signals that no job has received. They have no queue, so they are for viewers who may read without a queue. */
export async function readSignals({ admin, access, input }: BoardCall) {
  await access.require('read');
  const { signals, next } = await admin.signals({ unmatched: true }, { order: 'newest', ...input.page() });
  return { signals, next: next ?? null };
}
